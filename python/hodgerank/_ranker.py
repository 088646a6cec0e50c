"""An estimator that follows scikit-learn's conventions. scikit-learn itself is not required."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._commands import outliers, rank
from ._results import Outliers, Ranking
from ._votes import VotesLike
from .errors import UsageError


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import RankOptions

# The options of `rank`, as the core defines them. One estimator ranks one study, so `by` is left out.
_DEFAULTS: dict[str, Any] = {
    name: False if kind == "switch" else None
    for name, kind, *_ in _core.options("rank")
    if name != "by"
} | {"outliers": "auto", "threads": None}

# Options of `rank` that `outliers` does not have: they change nothing about flagged votes.
_RANKING_ONLY = ("require_connected", "scale", "anchor", "against")


class RobustRanker:
    """Ranks items robustly, with the interface of a scikit-learn estimator.

    The parameters are the options of ``hodgerank.rank``. After ``fit(votes)``:

    - ``items_``: the items, best first; ``scores_``: their scores; ``ranks_``: their ranks
    - ``ranking_``: the ``hodgerank.Ranking``
    - ``n_flagged_``: the number of flagged votes
    - ``outliers_``: the flagged votes, computed on first use

    ``score(votes)`` is the share of held-out votes that agree with the ranking, so ``GridSearchCV``
    can select methods and outlier rules.
    """

    def __init__(self, *, threads: int | None = None, **options: Unpack[RankOptions]) -> None:
        for name, default in _DEFAULTS.items():
            setattr(self, name, default)
        self.set_params(threads=threads, **options)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the parameters by name."""
        return {name: getattr(self, name) for name in _DEFAULTS}

    def set_params(self, **params: Any) -> RobustRanker:
        """Sets parameters by name and returns the estimator."""
        for name, value in params.items():
            if name not in _DEFAULTS:
                known = ", ".join(_DEFAULTS)
                raise UsageError(
                    f"RobustRanker has no parameter `{name}`", f"the parameters are {known}"
                )
            setattr(self, name, value)
        return self

    def fit(self, votes: VotesLike, y: object = None) -> RobustRanker:
        """Ranks the items of ``votes``. ``y`` is ignored; scikit-learn passes it."""
        self.ranking_: Ranking = rank(votes, **self.get_params())
        self.items_ = self.ranking_.items
        self.scores_ = self.ranking_.scores
        self.ranks_ = self.ranking_.ranks
        self.n_flagged_ = int(self.ranking_.outliers["comparisons"])
        self._votes = votes
        self._outliers: Outliers | None = None
        return self

    @property
    def outliers_(self) -> Outliers:
        """The flagged votes, most suspicious first."""
        self._check_fitted()
        if not hasattr(self, "_votes"):
            raise UsageError(
                "the votes were not saved with this RobustRanker", "call fit(votes) again"
            )
        if self._outliers is None:
            options = self.get_params()
            for name in _RANKING_ONLY:
                del options[name]
            self._outliers = outliers(self._votes, **options)
        return self._outliers

    def score(self, votes: VotesLike, y: object = None) -> float:
        """Returns the share of ``votes`` that agree with the ranking.

        Ties do not count. A vote on items with equal scores, or on an item that was not ranked,
        counts as half an agreement.
        """
        self._check_fitted()
        sides = ("winner", "loser", "left", "right", "outcome", "outcome_as", "count")
        reading = ("input_format", "delimiter", "on_error", "threads")
        options = {name: getattr(self, name) for name in (*sides, *reading)}
        listed = outliers(votes, method="l2", all=True, per_group=True, **options).rows
        known = dict(zip(self.items_, self.scores_))
        unknown = float("nan")
        left = np.array([known.get(row["left"], unknown) for row in listed])
        right = np.array([known.get(row["right"], unknown) for row in listed])
        difference = left - right
        outcome = np.array([row["outcome"] for row in listed])
        weight = np.array([row["count"] for row in listed], dtype=np.float64)
        weight = np.where(outcome == 0.0, 0.0, weight)
        agrees = np.sign(difference) * np.sign(outcome)
        agrees = np.where(np.isnan(agrees), 0.0, agrees)
        total = weight.sum()
        return float((weight * (1.0 + agrees) / 2.0).sum() / total) if total > 0.0 else 0.5

    def _check_fitted(self) -> None:
        if not hasattr(self, "items_"):
            raise UsageError("this RobustRanker is not fitted yet", "call fit(votes) first")

    def __getstate__(self) -> dict[str, Any]:
        # Results of the core cannot be pickled, and votes can be large.
        state = dict(self.__dict__)
        for name in ("ranking_", "_outliers", "_votes"):
            state.pop(name, None)
        return state

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(string=True, allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "items_")

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != _DEFAULTS[name]
        ]
        return f"RobustRanker({', '.join(changed)})"
