"""Tables of pandas in environments without pyarrow."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _core
from .errors import InputError

Array = np.ndarray[Any, Any]
Column = tuple[str, "Array | list[str | None]", "Array | None", "list[str] | None"]


def has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def is_pandas(table: object) -> bool:
    """Whether this is a table of pandas, which is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def columns_of(frame: Any) -> list[Column]:
    """Returns the columns for the core. An index with a name is a column, as in pyarrow."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    return [_column(str(name), frame.iloc[:, place]) for place, name in enumerate(frame.columns)]


def _column(name: str, series: Any) -> Column:
    missing: Array = series.isna().to_numpy(dtype=bool)
    if series.dtype.name == "category":
        categories = series.cat.categories
        if categories.dtype.kind not in "iufb":
            codes = series.cat.codes.to_numpy(dtype=np.int64)
            return name, codes, missing, [str(category) for category in categories]
        series = series.astype(categories.dtype) if not missing.any() else series.astype(object)
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iu":
        return name, _filled(series, missing, 0, np.int64), missing, None
    if kind == "f":
        return name, _filled(series, missing, np.nan, np.float64), missing, None
    if kind == "b":
        return name, _filled(series, missing, False, np.bool_), missing, None
    if kind == "O":
        return _objects(name, series, missing)
    texts = [None if gone else str(value) for value, gone in zip(series, missing)]
    return name, texts, None, None


def _filled(series: Any, missing: Array, value: object, dtype: Any) -> Array:
    if missing.any() and series.dtype.kind != "f":
        series = series.fillna(value)
    return np.ascontiguousarray(series.to_numpy(dtype=dtype))


def _objects(name: str, series: Any, missing: Array) -> Column:
    """Returns a column of objects as what they all are: text, truth values, whole numbers or numbers."""
    values = [None if gone else value for value, gone in zip(series, missing)]
    present = [value for value in values if value is not None]
    if all(isinstance(value, str) for value in present):
        # A list of its own: strings of NumPy are a subclass.
        return name, [None if value is None else str(value) for value in values], None, None
    for types, dtype, default in (
        ((bool, np.bool_), np.bool_, False),
        ((int, np.integer), np.int64, 0),
        ((int, float, np.integer, np.floating), np.float64, np.nan),
    ):
        is_truth = dtype is np.bool_
        if all(
            isinstance(value, types) and isinstance(value, (bool, np.bool_)) == is_truth
            for value in present
        ):
            filled = [default if value is None else value for value in values]
            return name, np.array(filled, dtype=dtype), missing, None
    text = [isinstance(value, str) for value in present]
    if any(text):
        row = next(k for k, value in enumerate(values) if not isinstance(value, (str, type(None))))
        raise InputError(
            f"votes, row {row + 1}, column `{name}`: the column has text and {values[row]!r} of type "
            f"{type(values[row]).__name__}",
            f'convert the column to text: votes["{name}"] = votes["{name}"].astype(str)',
            row + 1,
            name,
        )
    return name, [None if value is None else str(value) for value in values], None, None


def frame_of(table: _core.ArrowTable) -> Any:
    """Returns a table of pandas."""
    import pandas

    columns = {name: [x for part in parts for x in part] for name, parts in table.columns()}
    return pandas.DataFrame(columns)
