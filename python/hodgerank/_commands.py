"""The commands. Options have the names of the command line's flags, with underscores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

from . import _core
from ._results import (
    Cleaned,
    Comparison,
    Decomposition,
    Diagnosis,
    Outliers,
    Path,
    Ranking,
    Report,
    Simulation,
)
from ._votes import VotesLike, as_votes
from ._watch import Progress, Watcher
from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import (
        CleanOptions,
        CompareOptions,
        DecomposeOptions,
        DiagnoseOptions,
        OutliersOptions,
        PathOptions,
        RankOptions,
        ReportOptions,
        SimulateOptions,
    )

_Command = Callable[[_core.Votes, "dict[str, Any]", "int | None", object], Any]


def _do(
    command: _Command,
    votes: VotesLike,
    items: Sequence[str] | None,
    threads: int | None,
    progress: Progress,
    options: dict[str, Any],
) -> Any:
    source = as_votes(votes, items)
    with Watcher(progress) as watcher:
        return command(source, options, threads, watcher)


def rank(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[RankOptions],
) -> Ranking:
    """Ranks the items, robustly: a few bad votes cannot tilt the ranking.

    ``votes`` is a table of pandas, polars, pyarrow or any other library that speaks Arrow (its
    columns are found by their names, or named by ``winner`` and ``loser``, or ``left``, ``right`` and
    ``outcome``); NumPy arrays of indices ``(left, right, y)``, whose items can be named by ``items``;
    a list of tuples ``(left, right, outcome)`` or ``(winner, loser)``; or the name of a file, or
    several.

    ``method`` says how to find the scores, ``outliers`` how many votes to flag, ``by`` ranks each
    value of a column on its own.

    >>> hodgerank.rank([("cat", "dog"), ("dog", "cow"), ("cat", "cow")]).items
    ['cat', 'dog', 'cow']
    """
    return Ranking(_do(_core.rank, votes, items, threads, progress, dict(options)))


def outliers(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[OutliersOptions],
) -> Outliers:
    """Lists the flagged votes in order of suspicion, or with ``annotators=True`` who cast them."""
    return Outliers(_do(_core.outliers, votes, items, threads, progress, dict(options)))


def clean(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[CleanOptions],
) -> Cleaned:
    """The votes without the flagged ones, all columns kept.

    A table gives tables: the result itself and its ``flagged``. Files are cleaned into files:
    ``output``, and ``flagged`` for the flagged votes.
    """
    source = as_votes(votes, items)
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in ("output", "flagged"):
        if name in given:
            given[name] = os.fspath(given[name])
    with Watcher(progress) as watcher:
        if not source.in_memory:
            if "output" not in given:
                raise UsageError(
                    "files are cleaned into files",
                    "name the file for the trusted votes with output=…, or hand over a table",
                )
            counts = _core.clean(source, given, threads, watcher)
            return Cleaned(counts, output=given["output"])
        if "output" in given or "flagged" in given:
            raise UsageError(
                "a table is cleaned into tables",
                "leave output and flagged out, and write the result's tables as you like",
            )
        return Cleaned(*_core.part(source, given, threads, watcher))


def compare(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Ranks with all methods, side by side."""
    return Comparison(_do(_core.compare, votes, items, threads, progress, dict(options)))


def decompose(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[DecomposeOptions],
) -> Decomposition:
    """Tells where the inconsistency of the votes lives: in pairs, triangles or longer loops."""
    return Decomposition(_do(_core.decompose, votes, items, threads, progress, dict(options)))


def diagnose(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[DiagnoseOptions],
) -> Diagnosis:
    """Tells whether the votes can support a ranking, and whether bad ones can be found."""
    return Diagnosis(_do(_core.diagnose, votes, items, threads, progress, dict(options)))


def path(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[PathOptions],
) -> Path:
    """The whole path from trusting every vote to trusting fewer and fewer; notebooks draw it."""
    return Path(_do(_core.path, votes, items, threads, progress, dict(options)))


def report(
    votes: VotesLike,
    *,
    items: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
    **options: Unpack[ReportOptions],
) -> Report:
    """Writes a report that people look at: one HTML file, ``output``, that works offline."""
    given: dict[str, Any] = dict(options)
    for name in ("output", "figures"):
        if given.get(name) is not None:
            given[name] = os.fspath(given[name])
    return Report(_do(_core.report, votes, items, threads, progress, given))


def simulate(*, progress: Progress = False, **options: Unpack[SimulateOptions]) -> Simulation:
    """Makes a synthetic study: votes, some of them bad, and the truth behind them.

    ``annotators`` is a dictionary such as ``{"careful": 20, "malicious": 2}``.
    """
    with Watcher(progress) as watcher:
        return Simulation(*_core.simulate(dict(options), watcher))
