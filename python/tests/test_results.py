"""Result objects: attributes, tables, text and HTML."""

import pandas
import polars
import pyarrow
import pytest

import hodgerank


def test_ranking(study):
    ranking = hodgerank.rank(study.to_pandas())
    assert len(ranking.items) == len(ranking.scores) == 12
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert ranking.input["comparisons"] == 3000
    assert ranking.method["name"] == "crowd" and ranking.status == "solved"
    assert 0 < ranking.outliers["comparisons"] < 700
    suspects = [row["annotator"].split("-")[0] for row in ranking.annotators[:6]]
    assert suspects.count("careful") <= 1
    truth = study.truth
    pairs = [(a, b) for k, a in enumerate(ranking.items) for b in ranking.items[k + 1 :]]
    right = sum(truth[a] > truth[b] for a, b in pairs)
    assert right / len(pairs) > 0.9
    assert "12 items, 3,000 votes" in repr(ranking)


def test_tables(study):
    ranking = hodgerank.rank(study.to_arrow())
    frame = ranking.to_pandas()
    assert list(frame["item"]) == ranking.items
    assert ranking.to_polars()["score"].to_list() == list(ranking.scores)
    assert isinstance(ranking.to_arrow(), pyarrow.Table)
    assert polars.DataFrame(ranking).height == 12
    assert list(frame["score"]) == list(ranking.scores)


def test_html_escapes_labels():
    label = "<script>alert(1)</script>"
    votes = [(label, "b"), ("b", "c"), (label, "c")]
    for result in [
        hodgerank.rank(votes),
        hodgerank.compare(votes, methods="l2,iss"),
        hodgerank.outliers(votes, all=True),
        hodgerank.path(votes + [("c", label)], method="hlasso", outliers="30%"),
        hodgerank.certify(votes, method="l2"),
        hodgerank.decompose(votes),
        hodgerank.diagnose(votes),
        hodgerank.predict(votes),
        hodgerank.predict(votes, matrix=True),
        hodgerank.predict(votes * 9, holdout="30%"),
    ]:
        shown = result._repr_html_()
        assert "<script>" not in shown
        assert repr(result).startswith("<hodgerank.")
    assert "&lt;script&gt;" in hodgerank.rank(votes)._repr_html_()


def test_path_svg(study):
    path = hodgerank.path(study.to_arrow())
    assert path.parameter == "time"
    (svg,) = path.svg
    assert svg.startswith("<svg") and "Scores along the path" in svg
    assert svg in path._repr_html_()
    assert {"knot", "time", "item", "score"} == set(path.to_pandas().columns)


def test_clean_tables(study):
    frame = study.to_pandas()
    frame["note"] = range(len(frame))
    cleaned = hodgerank.clean(frame)
    kept, flagged = cleaned.to_pandas(), cleaned.flagged.to_pandas()
    assert list(kept.columns) == list(frame.columns)
    assert len(kept) == cleaned.kept_rows and len(flagged) == cleaned.flagged_rows
    assert sorted([*kept["note"], *flagged["note"]]) == list(range(len(frame)))
    assert flagged["bad"].mean() > 3 * frame["bad"].mean()
    assert cleaned.flagged_votes == hodgerank.rank(frame).outliers["comparisons"]
    assert isinstance(cleaned.to_polars(), polars.DataFrame)
    assert "rows kept" in repr(cleaned)


def test_clean_files(study, tmp_path, program):
    file, here, there = tmp_path / "v.csv", tmp_path / "a.csv", tmp_path / "b.csv"
    study.to_pandas().to_csv(file, index=False)
    cleaned = hodgerank.clean(file, output=here)
    assert program("clean", file, "-o", there, "--quiet")[0] == 0
    assert here.read_bytes() == there.read_bytes()
    assert cleaned.kept_rows == len(pandas.read_csv(here))
    with pytest.raises(hodgerank.UsageError, match="in a file"):
        cleaned.to_arrow()
    with pytest.raises(hodgerank.UsageError, match="would replace the input"):
        hodgerank.clean(file, output=file)
    with pytest.raises(hodgerank.UsageError, match="into files"):
        hodgerank.clean(file)


def test_report(study, tmp_path):
    report = hodgerank.report(study, output=tmp_path / "r.html", title="Our study")
    assert "Our study" in report.html and report.html.startswith("<!")
    assert "r.html" in report._repr_html_()


def test_simulation_equals_program(program):
    study = hodgerank.simulate(items=20, votes=500, flips="10%", seed=3)
    _, written, _ = program("simulate", "--items", 20, "--votes", 500, "--flips", "10%", "--seed", 3, "-q")
    assert study.to_polars().write_csv() == written
    assert len(study) == 500 and len(study.truth) == 20 and 30 < study.bad_votes < 80


def test_decomposition_and_diagnosis(study):
    split = hodgerank.decompose(study)
    assert abs(sum(split.shares.values()) - 1) < 1e-12
    assert split.energy > 0 and 0 < len(split.triangles) <= 10
    # Each is a cycle of majorities.
    assert all(min(triangle["flows"]) > 0 for triangle in split.triangles)
    assert set(split.to_pandas()) >= {"left", "right", "gradient", "curl"}
    diagnosis = hodgerank.diagnose(study)
    assert diagnosis.can_rank and diagnosis.findings and diagnosis.design["items"] == 12
    assert "can rank" in repr(diagnosis)


def test_warnings_and_progress():
    votes = [("a", "b"), ("c", "d")]
    with pytest.warns(hodgerank.HodgerankWarning, match="2 components"):
        hodgerank.rank(votes)
    steps = []
    hodgerank.diagnose(
        hodgerank.simulate(items=100, votes=50_000, flips=0.1),
        progress=lambda *step: steps.append(step),
    )
    assert {name for name, _, _ in steps} & {"solving", "diagnosing", "reading"}
    hodgerank.rank([("a", "b")], progress=True)
