"""Errors and warnings speak of keywords, not of flags."""

import re

import pytest

import hodgerank

VOTES = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d"), ("b", "d")]
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def table(columns):
    import pyarrow

    return pyarrow.table(columns)


# A call that fails, and what its message or help says.
FAILURES = [
    (lambda: hodgerank.rank(VOTES, outliers="lots"), "'outliers'"),
    (lambda: hodgerank.rank(VOTES, otliers="5%"), "'otliers'"),
    (lambda: hodgerank.rank(VOTES, method="l2", kappa=3), 'add method="lbi", or leave kappa out'),
    (lambda: hodgerank.rank(VOTES, method="bt", lambda_=3), "lambda_ is an option of"),
    (lambda: hodgerank.rank(VOTES, seed=3), 'add outliers="cv", or leave seed out'),
    (lambda: hodgerank.rank(VOTES, method="crowd"), 'use method="bt"'),
    (lambda: hodgerank.rank(VOTES, anchor={"a": 1}), 'add scale="elo", or leave anchor out'),
    (lambda: hodgerank.rank(VOTES, scale="elo", anchor={"A": 1}), "there is no item"),
    (lambda: hodgerank.rank(VOTES, min_votes=99), "min_votes=99 leaves no two items"),
    (lambda: hodgerank.rank(VOTES, exclude_annotators="x"), "annotator"),
    (lambda: hodgerank.rank([("a", "b"), ("c", "d")], require_connected=True), "leave require_connected out"),
    (lambda: hodgerank.rank([("a", "b"), ("a", "a")]), 'on_error="skip"'),
    (lambda: hodgerank.rank([("a", "a")], on_error="skip"), 'on_error="skip"'),
    (lambda: hodgerank.rank(table({"x": ["a"], "z": ["b"]})), "with winner and loser, or with left, right"),
    (
        lambda: hodgerank.rank(
            table({"left": ["a"], "right": ["b"], "winner": ["a"], "rater": ["x"], "judge": ["y"]})
        ),
        'annotator="rater"',
    ),
    (
        lambda: hodgerank.rank(table({"left": ["a", "b"], "right": ["b", "c"], "outcome": [1, 2]})),
        'outcome_as="1=left,2=right" if 2',
    ),
    (lambda: hodgerank.compare(VOTES, method="l2"), 'use methods="l2,iss,…"'),
    (lambda: hodgerank.predict(VOTES, among=["a"]), "among names one item"),
    (lambda: hodgerank.predict(VOTES, seed=1), 'add holdout="20%", or leave seed out'),
    (lambda: hodgerank.certify(VOTES, pair=("a", "bb")), 'pair="a,b"'),
    (lambda: hodgerank.certify(VOTES, pair=("a", "a")), 'such as pair="A,B"'),
    (lambda: hodgerank.path(VOTES, method="l2"), "methods with a path"),
    (lambda: hodgerank.annotators(VOTES), "name the column with annotator"),
    (lambda: hodgerank.simulate(noise="gaussian", noise_scale=2), 'add noise="bradley-terry"'),
    (lambda: hodgerank.rank("votes.txt", input_format="parquet"), "votes.txt"),
]


@pytest.mark.parametrize("number", range(len(FAILURES)))
def test_errors_speak_of_keywords(number):
    call, expected = FAILURES[number]
    with pytest.raises(hodgerank.HodgerankError) as raised:
        call()
    assert expected in str(raised.value)
    assert not FLAG.search(str(raised.value)), str(raised.value)


def test_warnings_speak_of_functions(study):
    with pytest.warns(hodgerank.HodgerankWarning, match="`hodgerank.annotators` lists them"):
        hodgerank.rank(study.to_arrow())


def test_version():
    from importlib.metadata import version

    assert hodgerank.__version__ == version("hodgerank")
