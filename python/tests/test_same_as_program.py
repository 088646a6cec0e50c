"""Program and Python package compute the same numbers, bit by bit, for every kind of input."""

import csv
import json

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

import hodgerank

from conftest import without_files

METHODS = ["l2", "ridge", "hlasso", "lasso-l2", "lbi", "iss", "iht", "ilts", "pc-lasso", "bt"]
FILES = ["complete.csv", "incomplete.csv", "annotators.csv", "graded.csv"]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("method", [None, *METHODS])
def test_ranking(testdata, program, file, method):
    flags = [] if method is None else ["--method", method]
    code, written, _ = program("rank", testdata / file, "--format", "json", "--quiet", *flags)
    assert code == 0
    assert hodgerank.rank(testdata / file, method=method).json == written


@pytest.mark.parametrize("file", FILES)
def test_tables_are_read_like_files(testdata, program, file):
    _, written, _ = program("rank", testdata / file, "--format", "json", "--quiet")
    expected = without_files(json.loads(written))
    tables = {
        "pandas": pandas.read_csv(testdata / file),
        "pandas text": pandas.read_csv(testdata / file, dtype=str),
        "pandas categories": pandas.read_csv(testdata / file, dtype="category"),
        "polars": polars.read_csv(testdata / file),
        "polars text": polars.read_csv(testdata / file, infer_schema=False),
        "pyarrow": pyarrow.csv.read_csv(testdata / file),
        "batch": pyarrow.csv.read_csv(testdata / file).combine_chunks().to_batches()[0],
    }
    if "y" in tables["pandas text"]:
        del tables["pandas categories"]
    for name, table in tables.items():
        assert hodgerank.rank(table).document == expected, name


# The settings behind the columns of the published tables.
GOLDEN = {
    "l2": {"method": "l2"},
    "xgb_linear": {"method": "ridge", "ridge": 1},
    "pc_lasso": {"method": "pc-lasso"},
    "ilts": {"method": "ilts"},
    "iht": {"method": "iht", "outliers": "5%"},
    "hlasso": {"method": "hlasso", "protocol": "paper", "outliers": "5%"},
    "lasso_l2": {"method": "lasso-l2", "protocol": "paper", "outliers": "5%"},
    "lbi": {"method": "lbi", "kappa": 50, "dt": 1 / 25000, "time": 0.66756},
}


@pytest.mark.parametrize("file", ["complete.csv", "annotators.csv"])
@pytest.mark.parametrize("column", GOLDEN)
def test_golden_settings(testdata, program, file, column):
    options = GOLDEN[column]
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    _, written, _ = program("rank", testdata / file, "--format", "json", "--quiet", *flags)
    expected = json.loads(written)
    assert hodgerank.rank(testdata / file, **options).document == expected
    table = pandas.read_csv(testdata / file)
    assert hodgerank.rank(table, **options).document == without_files(expected)


def test_published_scores(published):
    with open(published / "golden/pc-vqa-ref01.csv", encoding="utf-8") as file:
        golden = list(csv.DictReader(file))
    frame = pandas.read_csv(published / "pc-vqa/ref01.csv")
    for column in ["l2", "xgb_linear", "hlasso", "lasso_l2", "lbi"]:
        ranking = hodgerank.rank(frame, **GOLDEN[column])
        scores = dict(zip(ranking.items, ranking.scores))
        for row in golden:
            assert abs(scores[row["item"]] - float(row[column])) < 6e-5, (column, row["item"])


def test_arrays_and_tuples(testdata, program):
    _, written, _ = program("rank", testdata / "complete.csv", "--format", "json", "--quiet")
    expected = json.loads(written)["ranking"]
    frame = pandas.read_csv(testdata / "complete.csv")
    winner, loser = frame["winner"].to_numpy(), frame["loser"].to_numpy()
    names = [str(number) for number in range(1, 17)]
    forms = {
        "arrays": hodgerank.rank((winner, loser)),
        "two columns": hodgerank.rank(frame[["winner", "loser"]].to_numpy()),
        "arrays with y": hodgerank.rank((winner, loser, np.ones(len(frame)))),
        "truth values": hodgerank.rank((loser, winner, np.zeros(len(frame), dtype=bool))),
        "named": hodgerank.rank((winner - 1, loser - 1), items=names),
        "far apart": hodgerank.rank((winner * 10**12, loser * 10**12)),
        "tuples": hodgerank.rank(list(zip(winner.tolist(), loser.tolist()))),
        "tuples of text": hodgerank.rank([(str(w), str(o)) for w, o in zip(winner, loser)]),
        "with outcome": hodgerank.rank([(w, o, 1) for w, o in zip(winner, loser)]),
        "with words": hodgerank.rank([(str(o), str(w), "right") for w, o in zip(winner, loser)]),
        "with labels": hodgerank.rank([(f"i{w}", f"i{o}", f"i{w}") for w, o in zip(winner, loser)]),
        "with truth": hodgerank.rank([(o, w, False) for w, o in zip(winner, loser)]),
    }
    for name, ranking in forms.items():
        rows = [
            {**row, "item": row["item"].removeprefix("i").removesuffix("0" * 12)}
            for row in ranking.rows
        ]
        assert rows == expected, name


@pytest.mark.parametrize(
    "command, options, flags",
    [
        ("outliers", {}, []),
        ("annotators", {}, []),
        ("outliers", {"all": True, "per_group": True}, ["--all", "--per-group"]),
        ("rank", {"method": "crowd", "prior": 0.5}, ["--method", "crowd", "--prior", "0.5"]),
        ("rank", {"method": "bt", "lapse_rate": 0.1}, ["--method", "bt", "--lapse-rate", "0.1"]),
        (
            "rank",
            {"method": "bt", "scale": "elo", "anchor": {"item-12": 1200}},
            ["--method", "bt", "--scale", "elo", "--anchor", "item-12=1200"],
        ),
        ("annotators", {}, []),
        ("annotators", {"explain": "careful-20"}, ["--explain", "careful-20"]),
        ("compare", {"methods": ["l2", "iss"]}, ["--methods", "l2,iss"]),
        ("compare", {}, []),
        ("certify", {"method": "l2"}, ["--method", "l2"]),
        (
            "certify",
            {"method": "iss", "pair": ("item-12", "item-20")},
            ["--method", "iss", "--pair", "item-12,item-20"],
        ),
        ("decompose", {"triangles": 3}, ["--triangles", "3"]),
        ("diagnose", {}, []),
        ("path", {"method": "hlasso", "outliers": "5%"}, ["--method", "hlasso", "--outliers", "5%"]),
        ("path", {"what": "events"}, ["--what", "events"]),
        ("predict", {}, []),
        ("predict", {"among": ["item-12", "item-01"]}, ["--items", "item-12,item-01"]),
        ("predict", {"matrix": True, "method": "bt"}, ["--matrix", "--method", "bt"]),
        ("predict", {"holdout": "20%", "seed": 1}, ["--holdout", "20%", "--seed", "1"]),
    ],
)
def test_other_commands(testdata, program, command, options, flags):
    file = testdata / "annotators.csv"
    code, written, problem = program(command, file, "--format", "json", "--quiet", *flags)
    assert code == 0, problem
    run = getattr(hodgerank, command)
    assert run(file, **options).json == written
    document = run(polars.read_csv(file), **options).document
    assert document == without_files(json.loads(written))


def test_tables_equal_parquet_files(testdata, program, tmp_path):
    file = testdata / "annotators.csv"
    commands = "rank outliers annotators compare decompose diagnose path predict"
    for command in commands.split():
        output = tmp_path / f"{command}.parquet"
        code, _, problem = program(command, file, "-o", output, "--quiet")
        assert code == 0, problem
        table = getattr(hodgerank, command)(file).to_arrow()
        assert table.equals(pyarrow.parquet.read_table(output), check_metadata=True), command


def test_by(testdata, program):
    file = testdata / "studies.csv"
    _, written, _ = program("rank", file, "--by", "study", "--format", "json", "-q")
    ranking = hodgerank.rank(pandas.read_csv(file), by="study")
    assert ranking.document == without_files(json.loads(written))
    names = ["scene 1", "scene 2", "scene 10"]
    assert [study["by"] for study in ranking.studies] == names
    assert set(ranking.to_pandas()["by"]) == set(names)
    with pytest.raises(hodgerank.UsageError, match="for each value"):
        ranking.items


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "csv.zst"])
def test_formats(testdata, ending):
    expected = hodgerank.rank(pandas.read_csv(testdata / "formats/votes.csv")).document
    document = hodgerank.rank(testdata / f"formats/votes.{ending}").document
    assert without_files(document) == expected


def test_thread_count_does_not_matter(study):
    table = study.to_arrow()
    alone = hodgerank.rank(table, threads=1).json
    assert all(hodgerank.rank(table, threads=threads).json == alone for threads in (2, 3, 8))
