"""Draws the chart of benches/growth.py: time and memory over votes and items, on logarithmic axes, as SVG."""

import math

WIDTH, HEIGHT = 760, 560
PANEL_WIDTH, PANEL_HEIGHT = 270, 190
LEFT, TOP, GAP_X, GAP_Y = 70, 56, 95, 72
COLOURS = {"l2": "#0072b2", "default": "#d55e00"}
MARKS = {"l2": "circle", "default": "square"}
NAMES = {"l2": "--method l2", "default": "default"}


def chart(lines, fixed_items, fixed_votes):
    """Returns the chart; `lines[axis][method]` has points (votes or items, seconds, megabytes)."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Time and memory of hodgerank rank over votes and items">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for k, method in enumerate(NAMES):
        x = LEFT + 150 * k
        parts += [mark(method, x + 6, 18), text(x + 18, 22, NAMES[method])]
    titles = {"votes": f"Votes, on {fixed_items}", "items": f"Items, with {fixed_votes}"}
    for column, axis in enumerate(("votes", "items")):
        for row, (index, unit) in enumerate([(1, "seconds"), (2, "MB")]):
            left = LEFT + column * (PANEL_WIDTH + GAP_X)
            top = TOP + row * (PANEL_HEIGHT + GAP_Y)
            points = {m: [(p[0], p[index]) for p in own] for m, own in lines[axis].items()}
            parts += panel(left, top, points, titles[axis], unit)
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(left, top, lines, title, unit):
    everything = [point for own in lines.values() for point in own]
    if not everything:
        return [text(left, top + 20, "not measured")]
    x_scale = Scale([x for x, _ in everything], left, left + PANEL_WIDTH)
    y_scale = Scale([y for _, y in everything], top + PANEL_HEIGHT, top)
    bottom, right = top + PANEL_HEIGHT, left + PANEL_WIDTH
    parts = [text(left, top - 10, title, weight="bold")]
    for decade in x_scale.decades:
        x = x_scale(10.0**decade)
        parts += [rule(x, top, x, bottom), text(x, bottom + 16, power(decade), anchor="middle")]
    for decade in y_scale.decades:
        y = y_scale(10.0**decade)
        parts += [rule(left, y, right, y), text(left - 6, y + 4, power(decade), anchor="end")]
    parts.append(
        f'<rect x="{left}" y="{top}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" fill="none" stroke="#666"/>'
    )
    middle = (top + bottom) / 2
    parts.append(
        f'<text x="{left - 46}" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 {left - 46} {middle})">{unit}</text>'
    )
    for method, own in lines.items():
        drawn = [(x_scale(x), y_scale(y)) for x, y in own]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[method]}" stroke-width="2"/>')
        parts += [mark(method, x, y) for x, y in drawn]
    return parts


class Scale:
    """A logarithmic scale over whole decades."""

    def __init__(self, values, start, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        first, last = math.floor(low + 1e-9), math.ceil(high - 1e-9)
        last = max(last, first + 1)
        self.decades, self.start, self.end = range(first, last + 1), start, end

    def __call__(self, value):
        share = (math.log10(value) - self.decades[0]) / (self.decades[-1] - self.decades[0])
        return self.start + share * (self.end - self.start)


def power(decade):
    if -2 <= decade <= 3:
        return f"{10.0**decade:g}" if decade < 3 else "1,000"
    return f'10<tspan dy="-5" font-size="9">{decade}</tspan>'


def rule(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def mark(method, x, y):
    if MARKS[method] == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[method]}"/>'
    return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{COLOURS[method]}"/>'


def text(x, y, content, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{content}</text>'
