#!/usr/bin/env python3
"""Counts votes in PostgreSQL, Spark, ClickHouse and DuckDB with the queries of `hodgerank sql`, ranks the counts, and
checks that the ranking has the same bytes as that of the rows.

    .venv-bench/bin/python benches/warehouses.py [--votes N] [--items N] [--spark PYTHON] [--clickhouse PYTHON]

PostgreSQL is started on the loopback interface, with its data in a temporary folder; it must be installed (Debian:
postgresql). PYTHON is an interpreter with pyspark or chdb. A warehouse that is not there is left out. Loading the
votes is not timed. Run it with `scripts/bench warehouses`. The exit code is 1 if a ranking differs.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ingest import DATA, TARGET, log, simulate

PROGRAM = TARGET / "release" / "hodgerank"
PORT = "54329"
CASES = {
    "default (`bt`)": ("votes", []),
    "`--method l2 --intervals none`": ("votes", ["--method", "l2", "--intervals", "none"]),
    "annotators (`crowd`)": ("annotated", []),
}
COLUMNS = {"votes": "left,right,winner", "annotated": "annotator,left,right,winner"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--spark", help="a Python interpreter with pyspark")
    parser.add_argument("--clickhouse", help="a Python interpreter with chdb")
    given = parser.parse_args()
    files = {name: data(name, given.items, given.votes) for name in COLUMNS}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        engines = {"DuckDB": lambda: duckdb(files, folder)}
        if shutil.which("psql") and glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            engines["PostgreSQL"] = lambda: postgres(files, folder)
        if given.spark:
            engines["Spark"] = lambda: child(given.spark, "spark", files, folder)
        if given.clickhouse:
            engines["ClickHouse"] = lambda: child(given.clickhouse, "clickhouse", files, folder)
        own = {case: rank([files[table]], flags) for case, (table, flags) in CASES.items()}
        print(f"{given.votes:,} votes on {given.items:,} items\n")
        print("| warehouse | ranking | s to count | counts | s to rank them | s to rank the rows | same bytes |")
        print("|---|---|---:|---:|---:|---:|---|")
        all_same = True
        for engine, count in engines.items():
            log(engine)
            for case, (seconds, counts) in count().items():
                ranking, ranking_seconds = rank(counts, CASES[case][1])
                same = ranking == own[case][0]
                all_same &= same
                print(
                    f"| {engine} | {case} | {seconds:.1f} | {number_of_counts(counts):,} | {ranking_seconds:.2f} "
                    f"| {own[case][1]:.2f} | {'yes' if same else 'NO'} |"
                )
    return 0 if all_same else 1


def data(name, items, votes):
    file = DATA / f"warehouse-{name}-{items}-{votes}.csv"
    people = ["--annotators", "careful=80,careless=7,malicious=6,always-left=7"]
    if not file.exists():
        simulate(
            PROGRAM, file, "--items", items, "--votes", votes, "--ties", "10%", "--noise", "bradley-terry",
            "--seed", 1, *(people if name == "annotated" else ["--flips", "10%"]),
        )  # fmt: skip
    return file


def query(dialect, case):
    table, flags = CASES[case]
    command = [PROGRAM, "sql", "rank", "--dialect", dialect, "--table", table, "--columns", COLUMNS[table]]
    return subprocess.run([*command, *flags], capture_output=True, check=True, text=True).stdout


def rank(files, flags):
    started = time.perf_counter()
    command = [PROGRAM, "rank", *files, *flags, "--quiet", "--format", "csv"]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    return output, time.perf_counter() - started


def number_of_counts(files):
    import duckdb

    function = "read_csv" if str(files[0]).endswith(".csv") else "read_parquet"
    select = f"SELECT count(*) FROM {function}({[str(file) for file in files]})"
    return duckdb.connect().execute(select).fetchone()[0]


def duckdb(files, folder):
    import duckdb

    connection, found = duckdb.connect(), {}
    for table, file in files.items():
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_csv('{file}')")
    for k, case in enumerate(CASES):
        counts, started = folder / f"duckdb-{k}.parquet", time.perf_counter()
        connection.execute(f"COPY (\n{query('duckdb', case)}) TO '{counts}'")
        found[case] = time.perf_counter() - started, [counts]
    return found


def postgres(files, folder):
    """PostgreSQL refuses to run as root, so that root starts it as the user postgres."""
    binaries = Path(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[-1]).parent
    server, found = Path(tempfile.mkdtemp(prefix="postgres-")), {}
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(server, "postgres")
    control = [*as_user, binaries / "pg_ctl", "-D", server / "data", "-w", "-s", "-l", server / "log"]
    subprocess.run(
        [*as_user, binaries / "initdb", "-D", server / "data", "-A", "trust", "-U", "postgres"],
        check=True, stdout=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    listen = f"-h 127.0.0.1 -p {PORT} -k {server}"
    subprocess.run([*control, "-o", listen, "start"], check=True, stdout=subprocess.DEVNULL, cwd="/")
    psql = ["psql", "-h", "127.0.0.1", "-p", PORT, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
    try:
        for table, file in files.items():
            columns = ", ".join(f'"{name}" text' for name in COLUMNS[table].split(","))
            load = f"CREATE TABLE {table} ({columns});\n\\copy {table} FROM '{file}' csv header\nANALYZE;\n"
            subprocess.run(psql, input=load, text=True, check=True)
        for k, case in enumerate(CASES):
            counts, started = folder / f"postgres-{k}.csv", time.perf_counter()
            with open(counts, "wb") as output:
                subprocess.run([*psql, "--csv"], input=query("postgres", case).encode(), stdout=output, check=True)
            found[case] = time.perf_counter() - started, [counts]
    finally:
        subprocess.run([*control, "-m", "fast", "stop"], check=False, cwd="/")
        shutil.rmtree(server, ignore_errors=True)
    return found


def child(python, engine, files, folder):
    """Counts in an interpreter that has the engine."""
    work = {
        "folder": str(folder),
        "files": {table: str(file) for table, file in files.items()},
        "queries": {case: query(engine, case) for case in CASES},
    }
    script = Path(__file__).with_name("warehouse_child.py")
    done = subprocess.run(
        [python, script, engine], input=json.dumps(work), stdout=subprocess.PIPE, check=True, text=True
    )
    return {case: (seconds, counts) for case, (seconds, counts) in json.loads(done.stdout).items()}


if __name__ == "__main__":
    sys.exit(main())
