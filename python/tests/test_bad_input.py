"""Invalid input raises a HodgerankError with the message of the program, its row and its column."""

import datetime
import math

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hodgerank
from hodgerank import FileError, HodgerankError, InputError, UnanswerableError, UsageError

GOOD = {"left": ["a", "b", "c"], "right": ["b", "c", "a"], "winner": ["left", "tie", "right"]}


def table(**columns):
    return polars.DataFrame({**GOOD, **columns})


@pytest.mark.parametrize(
    "votes, row, column, text",
    [
        (table(winner=["left", "lefft", "tie"]), 2, "winner", "unknown outcome: \"lefft\""),
        (table(winner=["left", None, "tie"]), 2, "winner", "the value is missing"),
        (table(winner=[1.0, math.nan, 0.0]), 2, "winner", "not a finite number"),
        (table(winner=[1.0, 0.0, math.inf]), 3, "winner", "not a finite number"),
        (table(left=["a", "b", ""]), 3, "left", "name is empty"),
        (table(right=["a", "c", "a"]), 1, "right", "compared with itself"),
        (table(count=[1, -2, 1]), 2, "count", "not a whole number"),
        ([("a", "b", 1), ("b", "c", math.nan)], 2, "outcome", "not a finite number"),
        ([("a", "b", "left"), ("b", None, "left")], 2, "right", "the value is missing"),
        ([("a", "b"), (1.5, "c")], 2, "winner", "type that cannot be used"),
        ((np.array([0, 1]), np.array([1, -1])), 2, "loser", "out of range: \"-1\""),
        ((np.array([0, 1]), np.array([1, 1])), 2, "loser", "compared with itself"),
        ((np.array([0, 1]), np.array([1, 2]), np.array([1, np.nan])), 2, "y", "not a finite"),
        ((np.array([0, 1.5]), np.array([1, 2])), 2, "winner", "whole number"),
    ],
)
def test_invalid_rows(votes, row, column, text):
    with pytest.raises(InputError) as caught:
        hodgerank.rank(votes)
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, HodgerankError)
    assert (error.row, error.column) == (row, column)
    assert text in str(error) and f"row {row}" in str(error) and f"`{column}`" in str(error)
    assert error.help and f"help: {error.help}" in str(error)


@pytest.mark.parametrize(
    "votes, text",
    [
        (polars.DataFrame({"left": ["a"], "right": ["b"]}), "there is no outcome column"),
        (polars.DataFrame({"x": ["a"]}), "no pair of item columns"),
        (polars.DataFrame({"winner": [1.5], "loser": [2.5]}), "(`winner`) has the type Float64"),
        (
            polars.DataFrame({"winner": [datetime.date(2026, 1, 1)], "loser": ["b"]}),
            "(`winner`) has the type Date32",
        ),
        (polars.DataFrame({"winner": [["a"]], "loser": [["b"]]}), "(`winner`) has the type"),
        (polars.DataFrame({"winner": [], "loser": []}, schema={"winner": str, "loser": str}), "no vote"),
        ([], "no vote"),
        ((np.array([], dtype=int), np.array([], dtype=int)), "no vote"),
        (pandas.DataFrame({"winner": ["a", 1], "loser": ["b", "c"]}, dtype=object), "cannot be read"),
        (pyarrow.table({"winner": [["a"]], "loser": ["b"]}), "(`winner`) has the type"),
        ((np.array(["a"]), np.array(["b"])), "whole numbers are needed"),
        ((np.array([0]), np.array([1]), np.array(["x"])), "numbers are needed"),
    ],
)
def test_invalid_tables(votes, text):
    with pytest.raises(InputError) as caught:
        hodgerank.rank(votes)
    assert text in str(caught.value)


def test_index_out_of_range():
    with pytest.raises(InputError, match=r"row 2, column 2 \(`right`\).*\"7\"(?s:.*)there are 3 items"):
        votes = (np.array([0, 1]), np.array([1, 7]), np.array([1.0, 1.0]))
        hodgerank.rank(votes, items=["a", "b", "c"])


@pytest.mark.parametrize(
    "votes, options, text",
    [
        (3, {}, "of type int"),
        ({"a": 1}, {}, "of type dict"),
        (b"votes.csv", {}, "of type bytes"),
        (np.zeros(3), {}, "two dimensions"),
        ((np.array([0]), np.array([1, 2])), {}, "different lengths: 1, 2"),
        ((np.array([0]),), {}, "expected 2 or 3 arrays"),
        ([("a", "b", "c", "d")], {}, "row 1: expected (winner, loser)"),
        ([("a", "b"), ("a", "b", "left")], {}, "row 2: expected"),
        ([1, 2, 3], {}, "row 1: expected"),
        ([("a", "b")], {"items": ["a"]}, "items names the items of index arrays"),
        ((np.array([0]), np.array([1])), {"items": ["a", "a"]}, "an item twice"),
        ([("a", "b")], {"method": "magic"}, "invalid value 'magic' for 'method'"),
        ([("a", "b")], {"methd": "l2"}, "there is no option 'methd'"),
        ([("a", "b")], {"outliers": "many"}, "expected a share (5%)"),
        ([("a", "b")], {"kappa": 3}, 'kappa is an option of method="lbi"'),
        ([("a", "b")], {"method": "hlasso", "lambda_": -1}, "a λ above 0"),
        ([("a", "b")], {"require_connected": "yes"}, "expected True or False"),
        ([("a", "b")], {"threads": 0}, "threads = 0"),
    ],
)
def test_invalid_options(votes, options, text):
    with pytest.raises(UsageError) as caught:
        hodgerank.rank(votes, **options)
    assert text in str(caught.value)


def test_messages_are_those_of_the_program(program, tmp_path):
    cases = {
        "outcome.csv": "left,right,winner\na,b,left\nb,c,lefft\n",
        "columns.csv": "left,right\na,b\n",
        "empty.csv": "",
        "header.csv": "winner,loser\n",
        "missing.csv": None,
    }
    for name, text in cases.items():
        file = tmp_path / name
        if text is not None:
            file.write_text(text)
        code, _, message = program("rank", file)
        assert code == 2
        with pytest.raises((InputError, FileError)) as caught:
            hodgerank.rank(file)
        assert f"error: {caught.value.problem}" in message, name
        if caught.value.help:
            # The same with flags in place of keywords.
            flags = caught.value.help.replace('on_error="skip"', "--on-error skip")
            flags = flags.replace('outcome="NAME"', "--outcome NAME")
            flags = flags.replace('ignore="VALUE"', "--ignore VALUE")
            flags = flags.replace('tie="VALUE"', "--tie VALUE")
            flags = flags.replace("prefer_left", "--prefer-left")
            flags = flags.replace("prefer_right", "--prefer-right")
            assert f"help: {flags}" in message, name


def test_unanswerable():
    with pytest.raises(UnanswerableError, match="2 components"):
        hodgerank.rank([("a", "b"), ("c", "d")], require_connected=True)
    with pytest.raises(UnanswerableError), pytest.warns(hodgerank.HodgerankWarning):
        hodgerank.diagnose([("a", "b"), ("c", "d")], strict=True)


def test_missing_file():
    with pytest.raises(FileError) as caught:
        hodgerank.rank("no-such-file.csv")
    assert isinstance(caught.value, OSError)


cells = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.sampled_from(["a", "b", "c", "left", "right", "tie", "1"]),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
)
names = st.sampled_from(
    ["left", "right", "winner", "loser", "y", "outcome", "annotator", "count", "model_a", "model_b", "x"]
)
commands = st.sampled_from(
    ["rank", "outliers", "annotators", "clean", "compare", "decompose", "diagnose", "path", "predict"]
)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_tables_never_crash(data):
    rows = data.draw(st.integers(0, 6))
    kinds = [st.sampled_from(["a", "b", "c", "d"]), st.integers(0, 4), st.sampled_from([1.0, -1.0, 0.0])]
    columns = {}
    for name in data.draw(st.lists(names, unique=True, max_size=6)):
        kind = data.draw(st.sampled_from([*kinds, *kinds, cells, st.text(max_size=2), st.floats()]))
        columns[name] = data.draw(st.lists(kind, min_size=rows, max_size=rows))
    make = data.draw(st.sampled_from([pandas.DataFrame, polars.DataFrame, pyarrow.table]))
    try:
        votes = make(columns)
    except (TypeError, ValueError, OverflowError, pyarrow.ArrowException, polars.exceptions.PolarsError):
        return
    command = getattr(hodgerank, data.draw(commands))
    try:
        command(votes)
    except HodgerankError as error:
        assert str(error)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(cells, max_size=4).map(tuple) | cells, max_size=6), commands)
def test_random_lists_never_crash(rows, command):
    try:
        getattr(hodgerank, command)(rows)
    except HodgerankError as error:
        assert str(error)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4), st.floats()), min_size=1, max_size=8),
    st.none() | st.just(["a", "b", "c", "d", "e"]) | st.just(["a"]),
    st.sampled_from([np.int64, np.uint8, np.int16, np.float64]),
)
def test_random_arrays_never_crash(votes, items, kind):
    left, right, y = (np.array(column) for column in zip(*votes))
    try:
        hodgerank.rank((left.astype(kind), right.astype(kind), y), items=items)
    except HodgerankError as error:
        assert str(error)
