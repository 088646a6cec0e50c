"""Tables of pandas are read in environments without pyarrow too."""

import json
import subprocess
import sys

import pandas
import pytest

import hodgerank

# A module that is None cannot be imported.
BLOCKED = """
import sys
sys.modules["pyarrow"] = None
import json
import numpy as np
import pandas
import hodgerank
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("file", ["complete.csv", "annotators.csv", "graded.csv"])
@pytest.mark.parametrize("dtype", [None, "str", "object", "category"])
def test_same_as_with_pyarrow(testdata, file, dtype):
    code = """
table = pandas.read_csv(sys.argv[1], dtype=json.loads(sys.argv[2]))
print(json.dumps(hodgerank.rank(table, method="l2").document))
"""
    found = run(code, testdata / file, json.dumps(dtype))
    expected = hodgerank.rank(pandas.read_csv(testdata / file), method="l2").document
    assert found == expected


def test_kinds_of_columns():
    """Each kind of column, with a missing value in a column that has no role."""
    code = """
winners, losers = [1, 2, 3, 1, 1], [2, 3, 4, 3, 4]
def series(values):
    text = [str(value) for value in values]
    return {
        "int64": pandas.Series(values),
        "int8": pandas.Series(values, dtype="int8"),
        "uint16": pandas.Series(values, dtype="uint16"),
        "Int64": pandas.Series(values, dtype="Int64"),
        "object of int": pandas.Series(values, dtype=object),
        "str": pandas.Series(text),
        "string": pandas.Series(text, dtype="string"),
        "object": pandas.Series(text, dtype=object),
        "category": pandas.Series(text, dtype="category"),
        "category of int": pandas.Series(values, dtype="category"),
    }
others = {
    "empty": [None] * 5,
    "float": [1.5, np.nan, 2, 3, 4],
    "Float64": pandas.array([1.5, None, 2, 3, 4], dtype="Float64"),
    "whole": pandas.array([1, None, 2, 3, 4], dtype="Int64"),
    "bool": [True, False, True, True, False],
    "boolean": pandas.array([True, None, True, True, False], dtype="boolean"),
    "text": ["a", None, "b", float("nan"), pandas.NA],
    "labels": pandas.Categorical(["a", None, "b", "a", "a"]),
    "time": pandas.to_datetime(["2020-01-01"] * 4 + [None]),
    "mixed": [{"a": 1}, 2, None, 3.0, True],
}
found = {}
for kind in series(winners):
    table = pandas.DataFrame({"winner": series(winners)[kind], "loser": series(losers)[kind], **others})
    found[kind] = hodgerank.rank(table, method="l2").items
    kept = hodgerank.clean(table, method="iss", outliers="20%").to_pandas()
    assert list(kept.columns) == list(table.columns), kept.columns
    assert len(kept) in (4, 5), kept
named = pandas.DataFrame({"winner": winners, "loser": losers, "rater": list("abcab")})
named = named.set_index("rater")
found["annotators"] = hodgerank.rank(named).input["annotators"]
print(json.dumps(found))
"""
    found = run(code)
    assert found.pop("annotators") == 3
    expected = hodgerank.rank([("1", "2"), ("2", "3"), ("3", "4"), ("1", "3"), ("1", "4")], method="l2")
    assert all(items == expected.items for items in found.values()), found


def test_outcomes_and_missing_values():
    code = """
def scores(outcome, **options):
    table = pandas.DataFrame({"left": list("abca"), "right": list("bcac"), "outcome": outcome})
    return hodgerank.rank(table, method="l2", **options).document["ranking"]
ones = scores([1, 1, -1, 1])
assert scores([1.0, 1.0, -1.0, 1.0]) == ones
assert scores(pandas.array([1, 1, -1, 1], dtype="Int64")) == ones
assert scores(["left", "left", "right", "left"]) == ones
assert scores([True, True, False, True], outcome_as="selected") == ones
for missing in ([1, 1, -1, None], pandas.array([1, 1, -1, None], dtype="Int64"), ["a", "b", "a", None]):
    try:
        scores(missing)
    except hodgerank.InputError as error:
        assert (error.row, error.column) == (4, "outcome"), error
    else:
        raise AssertionError(missing)
try:
    scores(["left", 1, "right", "left"])
except hodgerank.InputError as error:
    assert (error.row, error.column) == (2, "outcome") and "astype(str)" in error.help
else:
    raise AssertionError("text and numbers")
print("0")
"""
    assert run(code) == 0


def test_results_become_tables(testdata):
    code = """
table = pandas.read_csv(sys.argv[1])
found = {}
for command in ["rank", "outliers", "annotators", "compare", "decompose", "diagnose", "path", "predict"]:
    frame = getattr(hodgerank, command)(table, method="l2") if command == "rank" else getattr(hodgerank, command)(table)
    frame = frame.to_pandas()
    found[command] = [list(frame.columns), len(frame)]
print(json.dumps(found))
"""
    table = pandas.read_csv(testdata / "annotators.csv")
    for command, shape in run(code, testdata / "annotators.csv").items():
        options = {"method": "l2"} if command == "rank" else {}
        expected = getattr(hodgerank, command)(table, **options).to_pandas()
        assert shape == [list(expected.columns), len(expected)], command
