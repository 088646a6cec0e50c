"""Results as HTML, for notebooks. Labels are data: whatever they hold is shown as text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

MOST_ROWS = 50


def cell(value: Any) -> str:
    """One value for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e-3 and value != 0.0 else f"{value:.4f}"
    return html.escape(str(value))


def table(names: Sequence[str], rows: Iterable[Sequence[Any]], count: int, title: str = "") -> str:
    """A table; ``count`` is how many rows there are, shown or not."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = []
    for number, row in enumerate(rows):
        if number == MOST_ROWS:
            break
        cells = "".join(f"<td>{cell(value)}</td>" for value in row)
        body.append(f"<tr>{cells}</tr>")
    parts = [f"<p>{html.escape(title)}</p>"] if title else []
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")
    if count > MOST_ROWS:
        parts.append(f"<p>… and {count - MOST_ROWS:,} rows more</p>")
    return "".join(parts)


def bar(score: float, largest: float) -> str:
    """A bar from the middle to the left or right, as long as the score is large."""
    share = 50.0 * abs(score) / largest if largest > 0.0 else 0.0
    start = 50.0 - share if score < 0.0 else 50.0
    return (
        '<div style="position:relative;width:10em;height:0.8em;border-left:0">'
        '<div style="position:absolute;left:50%;width:1px;height:100%;background:#999"></div>'
        f'<div style="position:absolute;left:{start:.1f}%;width:{share:.1f}%;height:100%;'
        'background:#0072b2"></div></div>'
    )
