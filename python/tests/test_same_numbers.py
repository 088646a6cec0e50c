"""Command line and Python give the same numbers, to the last bit, whatever the votes come in."""

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

METHODS = ["l2", "ridge", "hlasso", "lasso-l2", "lbi", "iss", "iht", "ilts", "pc-lasso"]
FILES = ["pc-vqa/ref01.csv", "pc-vqa/ref04.csv", "pc-iqa/ref02.csv", "human-age.csv"]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("method", [None, *METHODS])
def test_ranking(data, program, file, method):
    flags = [] if method is None else ["--method", method]
    code, written, _ = program("rank", data / file, "--format", "json", "--quiet", *flags)
    assert code == 0
    assert hodgerank.rank(data / file, method=method).json == written


@pytest.mark.parametrize("file", FILES)
def test_tables_are_read_like_files(data, program, file):
    _, written, _ = program("rank", data / file, "--format", "json", "--quiet")
    expected = json.loads(written)
    tables = {
        "pandas": pandas.read_csv(data / file),
        "pandas text": pandas.read_csv(data / file, dtype=str),
        "pandas categories": pandas.read_csv(data / file, dtype="category"),
        "polars": polars.read_csv(data / file),
        "polars text": polars.read_csv(data / file, infer_schema=False),
        "pyarrow": pyarrow.csv.read_csv(data / file),
        "batch": pyarrow.csv.read_csv(data / file).combine_chunks().to_batches()[0],
    }
    if "y" in tables["pandas text"]:
        del tables["pandas categories"]
    for name, table in tables.items():
        assert hodgerank.rank(table).document == expected, name


# What the columns of the published tables were made with.
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


@pytest.mark.parametrize("file", ["pc-vqa/ref01.csv", "human-age.csv"])
@pytest.mark.parametrize("column", GOLDEN)
def test_golden_settings_to_the_last_bit(data, program, file, column):
    options = GOLDEN[column]
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    _, written, _ = program("rank", data / file, "--format", "json", "--quiet", *flags)
    expected = json.loads(written)
    assert hodgerank.rank(data / file, **options).document == expected
    assert hodgerank.rank(pandas.read_csv(data / file), **options).document == expected


def test_golden_scores(data):
    with open(data / "golden/pc-vqa-ref01.csv", encoding="utf-8") as file:
        golden = list(csv.DictReader(file))
    frame = pandas.read_csv(data / "pc-vqa/ref01.csv")
    for column in ["l2", "xgb_linear", "hlasso", "lasso_l2", "lbi"]:
        ranking = hodgerank.rank(frame, **GOLDEN[column])
        scores = dict(zip(ranking.items, ranking.scores))
        for row in golden:
            assert abs(scores[row["item"]] - float(row[column])) < 6e-5, (column, row["item"])


def test_arrays_and_tuples(data, program):
    _, written, _ = program("rank", data / "pc-vqa/ref01.csv", "--format", "json", "--quiet")
    expected = json.loads(written)["ranking"]
    frame = pandas.read_csv(data / "pc-vqa/ref01.csv")
    winner, loser = frame["winner"].to_numpy(), frame["loser"].to_numpy()
    names = [str(number) for number in range(1, 17)]
    ways = {
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
    for name, ranking in ways.items():
        rows = [
            {**row, "item": row["item"].removeprefix("i").removesuffix("0" * 12)}
            for row in ranking.rows
        ]
        assert rows == expected, name


@pytest.mark.parametrize(
    "command, options, flags",
    [
        ("outliers", {}, []),
        ("outliers", {"annotators": True}, ["--annotators"]),
        ("outliers", {"all": True, "per_group": True}, ["--all", "--per-group"]),
        ("compare", {"methods": ["l2", "iss"]}, ["--methods", "l2,iss"]),
        ("compare", {}, []),
        ("decompose", {"triangles": 3}, ["--triangles", "3"]),
        ("diagnose", {}, []),
        ("path", {"method": "hlasso", "outliers": "5%"}, ["--method", "hlasso", "--outliers", "5%"]),
        ("path", {"what": "events"}, ["--what", "events"]),
    ],
)
def test_other_commands(data, program, command, options, flags):
    file = data / "human-age.csv"
    code, written, problem = program(command, file, "--format", "json", "--quiet", *flags)
    assert code == 0, problem
    run = getattr(hodgerank, command)
    assert run(file, **options).json == written
    assert run(polars.read_csv(file), **options).json == written


def test_tables_are_those_of_parquet(data, program, tmp_path):
    file = data / "human-age.csv"
    for command in ["rank", "outliers", "compare", "decompose", "diagnose", "path"]:
        output = tmp_path / f"{command}.parquet"
        code, _, problem = program(command, file, "-o", output, "--quiet")
        assert code == 0, problem
        table = getattr(hodgerank, command)(file).to_arrow()
        assert table.equals(pyarrow.parquet.read_table(output)), command


def test_by(data, program, tmp_path):
    frame = pandas.concat(
        pandas.read_csv(data / f"pc-vqa/ref0{number}.csv").assign(video=f"v{number}")
        for number in (1, 2, 3)
    )
    frame.to_csv(tmp_path / "all.csv", index=False)
    _, written, _ = program("rank", tmp_path / "all.csv", "--by", "video", "--format", "json", "-q")
    ranking = hodgerank.rank(frame, by="video")
    assert ranking.document == json.loads(written)
    assert [study["by"] for study in ranking.studies] == ["v1", "v2", "v3"]
    assert set(ranking.to_pandas()["by"]) == {"v1", "v2", "v3"}
    with pytest.raises(hodgerank.UsageError, match="for each value"):
        ranking.items


def test_threads_do_not_matter(study):
    table = study.to_arrow()
    alone = hodgerank.rank(table, threads=1).json
    assert all(hodgerank.rank(table, threads=threads).json == alone for threads in (2, 3, 8))
