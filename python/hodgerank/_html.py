"""HTML for notebooks. Labels come from the data and are always escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

MAX_ROWS = 50


def cell(value: Any) -> str:
    """Formats one value for a table cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e-3 and value != 0.0 else f"{value:.4f}"
    return html.escape(str(value))


def table(names: Sequence[str], rows: Iterable[Sequence[Any]], count: int, title: str = "") -> str:
    """Formats a table of at most ``MAX_ROWS`` rows; ``count`` is the number of all rows."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = []
    for number, row in enumerate(rows):
        if number == MAX_ROWS:
            break
        cells = "".join(f"<td>{cell(value)}</td>" for value in row)
        body.append(f"<tr>{cells}</tr>")
    parts = [f"<p>{html.escape(title)}</p>"] if title else []
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")
    if count > MAX_ROWS:
        parts.append(f"<p>… and {count - MAX_ROWS:,} more rows</p>")
    return "".join(parts)


def bar(score: float, largest: float) -> str:
    """Formats a bar, to the left for negative scores; ``largest`` fills half of the width."""
    share = 50.0 * abs(score) / largest if largest > 0.0 else 0.0
    start = 50.0 - share if score < 0.0 else 50.0
    return (
        '<div style="position:relative;width:10em;height:0.8em;border-left:0">'
        '<div style="position:absolute;left:50%;width:1px;height:100%;background:#999"></div>'
        f'<div style="position:absolute;left:{start:.1f}%;width:{share:.1f}%;height:100%;'
        'background:#0072b2"></div></div>'
    )
