"""Models of how people vote, annotators, Elo points and changes since an earlier ranking."""

import json
import math

import pandas
import pytest

import hodgerank


def test_bt_exposes_its_model(study):
    ranking = hodgerank.rank(study, method="bt")
    model = ranking.method
    assert model["name"] == "bt" and model["prior"] > 0
    assert {own["refinement"] for own in model["decisions"]} == {"sides", "lapses"}
    assert model["log_likelihood"] < 0 and model["tie_odds"] > 0
    given = hodgerank.rank(study, method="bt", prior=0.25, lapse_rate=0).method
    assert given["prior"] == 0.25 and given["lapse_rate"] == 0
    with pytest.raises(hodgerank.UsageError, match="lapse-rate"):
        hodgerank.rank(study, method="bt", lapse_rate=2)


def test_crowd_exposes_its_model(study):
    classes = hodgerank.rank(study, method="crowd").method["classes"]
    assert math.isclose(sum(classes.values()), 1, abs_tol=1e-9)
    assert classes["careful"] > 0.6
    with pytest.raises(hodgerank.UsageError, match="annotator"):
        hodgerank.rank([("a", "b")], method="crowd")


def test_annotators(study):
    found = hodgerank.annotators(study)
    frame = found.to_pandas()
    assert len(frame) == len(found.rows) == 30
    assert list(frame["annotator"]) == [row["annotator"] for row in found.rows]
    kind = frame["annotator"].str.rsplit("-", n=1).str[0]
    # The most problematic come first: three careless, two malicious and one who always clicks left.
    assert (kind.head(6) != "careful").all() and (kind.tail(24) == "careful").all()
    assert set(frame.loc[kind == "malicious", "class"]) == {"contrary"}
    assert set(frame.loc[kind == "always-left", "class"]) == {"left"}
    assert found.to_polars().height == 30
    assert repr(found).startswith("<hodgerank.Annotators: 30 rows") and "<table>" in found._repr_html_()


def test_annotators_explain(study):
    name = hodgerank.annotators(study).rows[0]["annotator"]
    evidence = hodgerank.annotators(study, explain=name)
    frame = evidence.to_pandas()
    votes = study.to_pandas()
    assert frame["count"].sum() == (votes["annotator"] == name).sum()
    assert {"left", "right", "vote", "others_left", "bad_probability"} <= set(frame)
    clarity = (frame["expected_left"] - 0.5).abs()
    assert clarity.is_monotonic_decreasing
    with pytest.raises(hodgerank.UsageError, match="no annotator nobody"):
        hodgerank.annotators(study, explain="nobody")
    with pytest.raises(hodgerank.UsageError, match="no column of annotators"):
        hodgerank.annotators([("a", "b")])


def test_elo(study):
    natural = hodgerank.rank(study, method="bt")
    elo = hodgerank.rank(study, method="bt", scale="elo")
    assert natural.scale is None and elo.scale["name"] == "elo"
    assert elo.items == natural.items
    expected = 1000 + 400 / math.log(10) * natural.scores
    assert abs(elo.scores - expected).max() < 1e-9
    assert list(elo.to_pandas()["score"]) == list(elo.scores)
    best = elo.items[0]
    for anchor in ({best: 1500}, f"{best}=1500"):
        anchored = hodgerank.rank(study, method="bt", scale="elo", anchor=anchor)
        assert anchored.scores[0] == 1500
    assert f"<td>{elo.scores[0]:.0f}</td>" in elo._repr_html_()
    with pytest.raises(hodgerank.UsageError, match="no item nothing"):
        hodgerank.rank(study, scale="elo", anchor={"nothing": 1})
    with pytest.raises(hodgerank.UnanswerableError, match="Elo"):
        hodgerank.rank([("a", "b")], method="l2", scale="elo")


def test_against(study, tmp_path):
    votes = study.to_pandas()
    suspicious = hodgerank.annotators(votes).to_pandas().head(3)["annotator"]
    before = hodgerank.rank(votes, method="bt")
    after = hodgerank.rank(votes[~votes["annotator"].isin(suspicious)], method="bt", against=before)
    assert before.changes is None
    changes = after.changes
    assert changes["common"] == 12 and changes["gone"] == [] and changes["scores_compare"]
    assert 0.5 < changes["kendall"] <= 1
    old = dict(zip(before.items, before.ranks))
    for row in changes["items"]:
        assert row["old_rank"] == old[row["item"]]
        assert row["rank_change"] == row["old_rank"] - row["rank"]
    frame = after.to_pandas()
    assert list(frame["rank_change"]) == [row["rank_change"] for row in changes["items"]]
    assert frame["old_rank"].notna().all()
    file = tmp_path / "before.json"
    file.write_text(before.json, encoding="utf-8")
    again = hodgerank.rank(votes, method="bt", against=file)
    assert again.changes["kendall"] == 1
    assert json.loads(again.json)["against"] == hodgerank.rank(votes, method="bt", against=before).changes
    assert hodgerank.rank(votes, method="bt", against=str(file)).changes == again.changes


def test_against_refuses_what_is_no_ranking(study, tmp_path):
    file = tmp_path / "votes.csv"
    study.to_pandas().to_csv(file, index=False)
    with pytest.raises(hodgerank.UsageError, match="not a JSON document"):
        hodgerank.rank(study, against=file)
    with pytest.raises(hodgerank.UsageError, match="type DataFrame"):
        hodgerank.rank(study, against=pandas.DataFrame())
    earlier = hodgerank.rank(study, method="l2")
    with pytest.warns(hodgerank.HodgerankWarning, match="scores do not compare"):
        hodgerank.rank(study, method="bt", against=earlier)


def test_ranker_accepts_options_of_rankings(study):
    ranker = hodgerank.RobustRanker(method="bt", scale="elo", lapse_rate=0.3).fit(study.to_pandas())
    assert abs(ranker.scores_.mean() - 1000) < 1e-9
    assert len(ranker.outliers_.rows) > 0
