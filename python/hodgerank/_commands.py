"""The commands. Their options have the names of the command-line flags, with underscores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

from . import _core
from ._observer import Observer, Progress
from ._results import (
    Annotators,
    Certificate,
    Cleaned,
    Comparison,
    Decomposition,
    Diagnosis,
    Outliers,
    Path,
    Predictions,
    Ranking,
    Report,
    Simulation,
)
from ._votes import VotesLike, as_votes
from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import (
        AnnotatorsOptions,
        CertifyOptions,
        CleanOptions,
        CompareOptions,
        DecomposeOptions,
        DiagnoseOptions,
        OutliersOptions,
        PathOptions,
        PredictOptions,
        RankOptions,
        ReportOptions,
        SimulateOptions,
    )

_Command = Callable[[_core.Votes, "dict[str, Any]", "int | None", object], Any]


def _run(
    command: _Command,
    votes: VotesLike,
    items: Sequence[str] | None,
    threads: int | None,
    progress: Progress,
    options: dict[str, Any],
) -> Any:
    source = as_votes(votes, items)
    with Observer(progress) as observer:
        return command(source, options, threads, observer)


def rank(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[RankOptions],
) -> Ranking:
    """Ranks the items. Votes that contradict the rest are flagged and do not count (by default).

    ``votes`` is one of:

    - a table of pandas, polars, pyarrow or any other library that supports Arrow (pandas alone is enough). Columns are found
      by their names, or given by ``winner`` and ``loser``, or ``left``, ``right`` and ``outcome``.
    - NumPy arrays of indices ``(left, right, y)`` or ``(winner, loser)``; ``items`` gives the names.
    - a list of tuples ``(left, right, outcome)`` or ``(winner, loser)``.
    - a file name, or a list of file names.

    ``method`` selects how scores are computed, ``outliers`` how many votes are flagged. ``by``
    computes a separate ranking for each value of a column. ``scale="elo"`` gives scores in Elo points,
    and ``anchor={"gpt-4": 1200}`` the score of one item. ``against``, an earlier ``Ranking`` or the
    file of one, adds what has changed since.

    >>> hodgerank.rank([("cat", "dog"), ("dog", "cow"), ("cat", "cow")]).items
    ['cat', 'dog', 'cow']
    """
    given: dict[str, Any] = dict(options)
    against = given.get("against")
    source = as_votes(votes, items)
    with Observer(progress) as observer:
        if isinstance(against, Ranking):
            del given["against"]
            document = against._core_document
            return Ranking(_core.rank(source, given, threads, observer, document))
        if against is not None:
            if not isinstance(against, (str, os.PathLike)):
                raise UsageError(
                    f"against cannot be of type {type(against).__name__}",
                    "pass an earlier Ranking, or the name of a file with its JSON",
                )
            given["against"] = os.fspath(against)
        return Ranking(_core.rank(source, given, threads, observer))


def outliers(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[OutliersOptions],
) -> Outliers:
    """Lists the flagged votes, most suspicious first."""
    return Outliers(_run(_core.outliers, votes, items, threads, progress, dict(options)))


def annotators(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[AnnotatorsOptions],
) -> Annotators:
    """Lists the annotators, the most problematic first: who is careful, careless, contrary, one-sided
    or random.

    With ``explain="name"``, lists the votes of one annotator, those on the clearest pairs first, with
    the votes of all others on the same pairs.
    """
    return Annotators(_run(_core.annotators, votes, items, threads, progress, dict(options)))


def certify(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[CertifyOptions],
) -> Certificate:
    """Finds the smallest sets of votes, and of annotators, whose removal changes the first place.

    ``places=3`` examines the first three places, and ``pair=("a", "b")`` the order of two items. Every set
    is verified by ranking without it; a smaller one may exist.
    """
    return Certificate(_run(_core.certify, votes, items, threads, progress, dict(options)))


def clean(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[CleanOptions],
) -> Cleaned:
    """Removes the flagged votes and keeps all columns.

    If ``votes`` is a table, the result is a table, and its ``flagged`` has the flagged votes. If
    ``votes`` is a file, the result is written to the file ``output``, and the flagged votes to the
    file ``flagged`` if it is given.
    """
    source = as_votes(votes, items)
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in ("output", "flagged"):
        if name in given:
            given[name] = os.fspath(given[name])
    with Observer(progress) as observer:
        if not source.in_memory:
            if "output" not in given:
                raise UsageError(
                    "files are cleaned into files",
                    "name the file for the trusted votes with output=…, or pass a table",
                )
            counts = _core.clean(source, given, threads, observer)
            return Cleaned(counts, output=given["output"])
        if "output" in given or "flagged" in given:
            raise UsageError(
                "a table is cleaned into tables",
                "omit output and flagged, and write the tables of the result yourself",
            )
        return Cleaned(*_core.split(source, given, threads, observer))


def compare(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Ranks the items with several methods (by default with all) for comparison."""
    return Comparison(_run(_core.compare, votes, items, threads, progress, dict(options)))


def decompose(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[DecomposeOptions],
) -> Decomposition:
    """Shows where votes contradict each other: on single pairs, in triangles or in longer loops."""
    return Decomposition(_run(_core.decompose, votes, items, threads, progress, dict(options)))


def diagnose(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[DiagnoseOptions],
) -> Diagnosis:
    """Checks whether the votes are sufficient to rank all items and to find bad votes."""
    return Diagnosis(_run(_core.diagnose, votes, items, threads, progress, dict(options)))


def path(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[PathOptions],
) -> Path:
    """Computes the path from "no vote flagged" to "many votes flagged"; notebooks show a chart."""
    return Path(_run(_core.path, votes, items, threads, progress, dict(options)))


def predict(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[PredictOptions],
) -> Predictions:
    """Predicts which of two items a careful annotator prefers, for all pairs, the pairs ``among`` some
    items, or the ``pairs`` in a file.

    With ``holdout="20%"``, ranks by a part of the votes and evaluates the predictions of the others.
    """
    given: dict[str, Any] = dict(options)
    if "among" in given:
        given["items"] = given.pop("among")
    if given.get("pairs") is not None:
        given["pairs"] = os.fspath(given["pairs"])
    return Predictions(_run(_core.predict, votes, items, threads, progress, given))


def report(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[ReportOptions],
) -> Report:
    """Writes a report to ``output``: one HTML file with charts and tables that works offline."""
    given: dict[str, Any] = dict(options)
    for name in ("output", "figures"):
        if given.get(name) is not None:
            given[name] = os.fspath(given[name])
    return Report(_run(_core.report, votes, items, threads, progress, given))


def simulate(*, progress: Progress = False, **options: Unpack[SimulateOptions]) -> Simulation:
    """Simulates a study: votes, some of them bad, and the true scores.

    ``annotators`` is a dictionary such as ``{"careful": 20, "malicious": 2}``.
    """
    with Observer(progress) as observer:
        return Simulation(*_core.simulate(dict(options), observer))
