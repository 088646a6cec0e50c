"""An estimator that follows scikit-learn's conventions. scikit-learn itself is not required."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ._commands import outliers, rank
from ._results import Outliers, Ranking
from ._votes import VotesLike
from .errors import UsageError


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

    def __init__(
        self,
        *,
        method: str | None = None,
        outliers: str | int = "auto",
        seed: int | None = None,
        lambda_: float | None = None,
        time: float | None = None,
        kappa: float | None = None,
        dt: float | None = None,
        algorithm: str | None = None,
        protocol: str | None = None,
        ridge: float | None = None,
        backend: str | None = None,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        winner: str | None = None,
        loser: str | None = None,
        left: str | None = None,
        right: str | None = None,
        outcome: str | None = None,
        outcome_as: str | None = None,
        annotator: str | None = None,
        count: str | None = None,
        input_format: str | None = None,
        delimiter: str | None = None,
        on_error: str | None = None,
        require_connected: bool = False,
        threads: int | None = None,
    ) -> None:
        self.method = method
        self.outliers = outliers
        self.seed = seed
        self.lambda_ = lambda_
        self.time = time
        self.kappa = kappa
        self.dt = dt
        self.algorithm = algorithm
        self.protocol = protocol
        self.ridge = ridge
        self.backend = backend
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.winner = winner
        self.loser = loser
        self.left = left
        self.right = right
        self.outcome = outcome
        self.outcome_as = outcome_as
        self.annotator = annotator
        self.count = count
        self.input_format = input_format
        self.delimiter = delimiter
        self.on_error = on_error
        self.require_connected = require_connected
        self.threads = threads

    @classmethod
    def _parameters(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> RobustRanker:
        """Sets parameters by name and returns the estimator."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise UsageError(
                    f"RobustRanker has no parameter `{name}`", f"known are {', '.join(known)}"
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
                "the votes did not travel with this RobustRanker", "call fit(votes) again"
            )
        if self._outliers is None:
            options = self.get_params()
            del options["require_connected"]
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
            raise UsageError("this RobustRanker has seen no votes yet", "call fit(votes) first")

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
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(type(self)).parameters.items()
        }
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != defaults[name]
        ]
        return f"RobustRanker({', '.join(changed)})"
