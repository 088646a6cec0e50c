#!/usr/bin/env python3
"""Counts votes in Spark or ClickHouse for benches/warehouses.py, run by an interpreter that has pyspark or chdb.

    PYTHON benches/warehouse_child.py spark|clickhouse < WORK

WORK is JSON: a folder, CSV files by table, and queries by name. Prints the seconds and the files of counts of each
query as JSON.
"""

import glob
import json
import sys
import time


def spark(folder, files, queries):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for table, file in files.items():
        # A Parquet table, as a warehouse would have it.
        stored = f"{folder}/{table}.parquet"
        session.read.csv(file, header=True).write.parquet(stored)
        session.read.parquet(stored).createOrReplaceTempView(table)
    for k, (name, query) in enumerate(queries.items()):
        started = time.perf_counter()
        session.sql(query).write.parquet(f"{folder}/spark-{k}")
        yield name, time.perf_counter() - started, sorted(glob.glob(f"{folder}/spark-{k}/*.parquet"))


def clickhouse(folder, files, queries):
    from chdb import session

    database = session.Session(f"{folder}/clickhouse")
    database.query("CREATE DATABASE study ENGINE = Atomic")
    database.query("USE study")
    for table, file in files.items():
        select = f"SELECT * FROM file('{file}', CSVWithNames)"
        database.query(f"CREATE TABLE {table} ENGINE = MergeTree ORDER BY tuple() AS {select}")
    for k, (name, query) in enumerate(queries.items()):
        counts, started = f"{folder}/clickhouse-{k}.csv", time.perf_counter()
        result = database.query(query, "CSVWithNames")
        with open(counts, "wb") as output:
            output.write(result.bytes())
        yield name, time.perf_counter() - started, [counts]


if __name__ == "__main__":
    work = json.load(sys.stdin)
    count = {"spark": spark, "clickhouse": clickhouse}[sys.argv[1]]
    found = {name: (seconds, counts) for name, seconds, counts in count(**work)}
    print(json.dumps(found))
