"""The estimator works with scikit-learn, and without it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import hodgerank
from hodgerank import RobustRanker, _core


def test_fit(study):
    votes = study.to_pandas()
    ranker = RobustRanker(method="iss").fit(votes)
    ranking = hodgerank.rank(votes, method="iss")
    assert ranker.items_ == ranking.items
    assert (ranker.scores_ == ranking.scores).all()
    assert ranker.n_flagged_ == len(ranker.outliers_.rows) == ranking.outliers["comparisons"]
    assert repr(ranker) == "RobustRanker(method='iss')"


def test_score():
    ranker = RobustRanker(method="l2").fit([("a", "b"), ("b", "c"), ("a", "c")])
    assert ranker.score([("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")]) == 0.75
    assert ranker.score([("a", "b", "tie"), ("a", "c", "left")]) == 1.0
    assert ranker.score([("a", "new")]) == 0.5


def test_clone_and_search(study):
    votes = study.to_pandas()
    ranker = RobustRanker(method="hlasso", lambda_=1.2)
    copy = clone(ranker)
    assert copy is not ranker and copy.get_params() == ranker.get_params()
    search = GridSearchCV(
        RobustRanker(), {"method": ["l2", "iss"], "outliers": ["auto", "5%"]}, cv=3
    ).fit(votes)
    assert search.best_params_["method"] in {"l2", "iss"}
    assert 0.6 < search.best_score_ < 1.0
    assert search.best_estimator_.items_
    scores = cross_val_score(RobustRanker(), votes, cv=3)
    assert len(scores) == 3 and np.isfinite(scores).all()


def test_parameters_equal_options():
    known = {name for name, *_ in _core.options("rank")} - {"by"} | {"threads"}
    assert set(RobustRanker().get_params()) == known
    with pytest.raises(hodgerank.UsageError, match="no parameter `magic`"):
        RobustRanker().set_params(magic=1)
    with pytest.raises(hodgerank.UsageError, match="not fitted"):
        RobustRanker().score([("a", "b")])


def test_pickle(study):
    ranker = pickle.loads(pickle.dumps(RobustRanker().fit(study.to_pandas())))
    assert ranker.score(study.to_pandas()) > 0.6
    with pytest.raises(hodgerank.UsageError, match="fit"):
        ranker.outliers_


def test_without_optional_dependencies():
    code = """
import sys
for name in ("sklearn", "pandas", "polars", "pyarrow", "tqdm"):
    sys.modules[name] = None
import hodgerank
assert hodgerank.RobustRanker().fit([("a", "b"), ("b", "c")]).items_ == ["a", "b", "c"]
hodgerank.rank([("a", "b")], progress=True)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
