"""Databases are read like other files; `table` and `query` choose the rows."""

import csv
import sqlite3

import pytest

import hodgerank
from hodgerank import InputError, UsageError


@pytest.fixture
def database(testdata, tmp_path):
    """A database with two tables, one of which has the votes of a study."""
    with open(testdata / "annotators.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    name = tmp_path / "votes.db"
    connection = sqlite3.connect(name)
    columns = ", ".join(f'"{column}"' for column in header)
    connection.execute(f"CREATE TABLE votes({columns})")
    connection.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * len(header))})", rows)
    connection.execute("CREATE TABLE people(name)")
    connection.commit()
    connection.close()
    return name


def test_tables_and_queries(testdata, database):
    expected = hodgerank.rank(testdata / "annotators.csv").document
    for rows in [{"table": "votes"}, {"query": "SELECT * FROM votes"}]:
        found = hodgerank.rank(database, **rows).document
        for key in ["ranking", "annotators", "certificate"]:
            assert found[key] == expected[key], (rows, key)


def test_messages_name_keywords(testdata, database):
    with pytest.raises(InputError, match=r"several tables: `people`, `votes`\n.*with table, or"):
        hodgerank.rank(database)
    with pytest.raises(InputError, match=r"no table `vote`.*\n.*use table=\"votes\""):
        hodgerank.rank(database, table="vote")
    with pytest.raises(InputError, match="the query would change the database"):
        hodgerank.rank(database, query="DELETE FROM votes")
    with pytest.raises(UsageError, match="query is an option for SQLite databases"):
        hodgerank.rank(testdata / "annotators.csv", query="SELECT 1")
