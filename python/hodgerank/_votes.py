"""Conversion of tables, arrays, tuples and file names to votes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Union

import numpy as np

from . import _core
from ._pandas import columns_of, has_pyarrow, is_pandas
from .errors import InputError, UsageError

VotesLike = Any
"""A table (pandas, polars, pyarrow, DuckDB, …), arrays of indices ``(left, right, y)`` or
``(winner, loser)``, a list of tuples ``(left, right, outcome)`` or ``(winner, loser)``, a file name,
or a list of file names."""

_Path = Union[str, "os.PathLike[str]"]

_EXPECTED = (
    "pass a table (pandas, polars, pyarrow), a tuple of NumPy arrays (left, right, y), a list of "
    "tuples (left, right, outcome) or (winner, loser), or a file name"
)


def as_votes(votes: VotesLike, items: Sequence[str] | None = None) -> _core.Votes:
    """Converts votes to the type that the core reads. Tables are not copied, except those of pandas
    without pyarrow.
    """
    arrays = _arrays(votes)
    if items is not None and arrays is None:
        raise UsageError("items names the items of index arrays", "omit items, or pass index arrays")
    if arrays is not None:
        return _from_arrays(arrays, items)
    if isinstance(votes, _core.Votes):
        return votes
    if isinstance(votes, (str, os.PathLike)):
        return _core.files([os.fspath(votes)])
    if is_pandas(votes) and not has_pyarrow():
        return _core.columns(columns_of(votes))
    if hasattr(votes, "__arrow_c_stream__") or hasattr(votes, "__arrow_c_array__"):
        return _core.table(votes)
    if isinstance(votes, (bytes, dict, set, frozenset)) or not isinstance(votes, Iterable):
        raise UsageError(f"votes cannot be of type {type(votes).__name__}", _EXPECTED)
    rows = votes if isinstance(votes, list) else list(votes)
    if rows and all(isinstance(row, (str, os.PathLike)) for row in rows):
        return _core.files([os.fspath(row) for row in rows])
    return _core.tuples(rows)


def _arrays(votes: VotesLike) -> list[np.ndarray[Any, Any]] | None:
    """Returns the arrays of indices, or None if the votes have another form."""
    if isinstance(votes, np.ndarray):
        if votes.ndim != 2:
            raise UsageError(
                f"an array of votes must have two dimensions, not {votes.ndim}",
                "pass one row per vote: (left, right, y) or (winner, loser)",
            )
        return list(votes.T)
    is_arrays = isinstance(votes, tuple) and all(isinstance(part, np.ndarray) for part in votes)
    return list(votes) if is_arrays and votes else None


def _from_arrays(
    arrays: list[np.ndarray[Any, Any]], items: Sequence[str] | None
) -> _core.Votes:
    if len(arrays) not in (2, 3):
        raise UsageError(
            f"expected 2 or 3 arrays, not {len(arrays)}",
            "pass (left, right, y) or (winner, loser)",
        )
    names = ("left", "right") if len(arrays) == 3 else ("winner", "loser")
    for array, name in zip(arrays, (*names, "y")):
        if array.ndim != 1:
            raise UsageError(f"{name} has {array.ndim} dimensions", "pass one-dimensional arrays")
    left, right = (_indices(array, name) for array, name in zip(arrays, names))
    y = _outcomes(arrays[2]) if len(arrays) == 3 else None
    labels = None if items is None else [str(item) for item in items]
    if labels is not None and len(set(labels)) < len(labels):
        raise UsageError("items names an item twice", "give each item a different name")
    return _core.arrays(left, right, y, labels)


def _indices(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    if array.dtype.kind == "f" and array.size and not (array == np.floor(array)).all():
        row = int(np.argmax(~(array == np.floor(array))))
        raise InputError(
            f"votes, row {row + 1}, column `{name}`: an index must be a whole number: {array[row]}",
            "items are numbered from 0",
            row + 1,
            name,
        )
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"votes: column `{name}` has the type {array.dtype}, but whole numbers are needed",
            "pass indices of items, numbered from 0; to pass names, use a table or tuples",
            column=name,
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def _outcomes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    if array.dtype.kind == "b":
        return np.where(array, 1.0, -1.0)
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"votes: column `y` has the type {array.dtype}, but numbers are needed",
            "an outcome is positive if the left item is preferred",
            column="y",
        )
    return np.ascontiguousarray(array, dtype=np.float64)
