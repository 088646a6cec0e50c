"""Votes counted by DuckDB with the query of `hodgerank sql` give the same bytes as the rows."""

import duckdb
import pytest

STUDIES = ["annotators.csv", "complete.csv", "graded.csv", "incomplete.csv"]
# Each command with the options that make its output a table of results, without counts of rows.
COMMANDS = [
    ["rank"],
    ["rank", "--method", "l2", "--intervals", "none"],
    ["rank", "--method", "bt", "--intervals", "none"],
    ["rank", "--method", "iss", "--outliers", "5%"],
    ["predict"],
    ["annotators"],
    ["compare"],
    ["decompose"],
]


def counts_of(program, command, votes, folder):
    """Counts the votes of a file with the query for a command; returns the file of counts."""
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW votes AS SELECT * FROM read_csv('{votes}', all_varchar=true)")
    columns = ",".join(row[0] for row in connection.execute("DESCRIBE votes").fetchall())
    # Numbers are read as such: a query may change their signs.
    if ",y" in columns:
        connection.execute(
            f"CREATE OR REPLACE VIEW votes AS SELECT * REPLACE (CAST(y AS DOUBLE) AS y) "
            f"FROM read_csv('{votes}', all_varchar=true)"
        )
    name, *options = command
    arguments = ["sql", name, "--dialect", "duckdb", "--table", "votes", "--columns", columns]
    method = [o for o in options if o not in ("--outliers", "5%")]
    code, query, message = program(*arguments, *method)
    assert code == 0, message
    file = folder / "counts.csv"
    # The comment is part of the query: it must not disturb it.
    result = connection.execute(query)
    result.df().to_csv(file, index=False)
    return file, connection.execute("SELECT COUNT(*) FROM votes").fetchone()[0]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_counts_give_the_same_bytes(program, testdata, tmp_path, study, command):
    votes = testdata / study
    has_annotators = "annotator" in votes.read_text().splitlines()[0]
    if command == ["annotators"] and not has_annotators:
        columns = votes.read_text().splitlines()[0]
        code, _, message = program(
            "sql", "annotators", "--dialect", "duckdb", "--table", "v", "--columns", columns
        )
        assert (code, "--annotator" in message) == (2, True)
        return
    counts, rows = counts_of(program, command, votes, tmp_path)
    counted = len(counts.read_text().splitlines()) - 1
    assert counted <= rows and (counted < rows or study == "graded.csv")
    expected = program(*command[:1], votes, *command[1:], "--format", "csv")
    found = program(*command[:1], counts, *command[1:], "--format", "csv")
    assert found[:2] == expected[:2], found[2]


def test_studies_stay_apart(program, testdata, tmp_path):
    votes = testdata / "studies.csv"
    counts, _ = counts_of(program, ["rank", "--by", "study"], votes, tmp_path)
    expected = program("rank", votes, "--by", "study", "--format", "csv")
    assert program("rank", counts, "--by", "study", "--format", "csv")[:2] == expected[:2]
