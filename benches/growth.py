#!/usr/bin/env python3
"""Measures how time and memory of `hodgerank rank` grow with the number of votes and of items.

    .venv-bench/bin/python benches/growth.py [--quick] [--budget SECONDS] [--force]

Two lines through the plane of votes and items, and some of its corners: votes from 1e5 to 1e8 on 1,000 items,
items from 100 to 1e6 with 1e7 votes. Each study is a Parquet file; whole processes are timed. Studies that would
exceed the budget are left out, and the page says so.

The table and the fitted exponents replace what is between the markers of docs/performance/growth.md, and the
chart is docs/images/growth.svg. On a busy machine, and with --quick, both are written to bench-data/ instead.
"""

import argparse
import datetime
import math
import os
import platform
import re
import signal
import sys
import time

from growth_chart import chart
from ingest import DATA, MILLION, ROOT, TARGET, TooSlow, busy_cores, how_busy, log, run_child, simulate

PROGRAM = TARGET / "release" / "hodgerank"
PAGE = ROOT / "docs" / "performance" / "growth.md"
CHART = ROOT / "docs" / "images" / "growth.svg"
METHODS = {"l2": ["--method", "l2"], "default": []}

ITEMS, VOTES = 1000, 10 * MILLION
LINE_OF_VOTES = [(ITEMS, votes) for votes in (100_000, MILLION, 10 * MILLION, 100 * MILLION)]
LINE_OF_ITEMS = [(items, VOTES) for items in (100, 1000, 10_000, 100_000, MILLION)]
CORNERS = [
    (100, 100_000),
    (10_000, 100_000),
    (100_000, MILLION),
    (100, 100 * MILLION),
    (10_000, 100 * MILLION),
]
# No process may take longer, in seconds.
LIMIT = 150
# The page is not rewritten if other programs use more cores than this.
MAX_BUSY = 0.3
# A process that takes less than this is measured three times.
SHORT = 3.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="at most a million votes")
    parser.add_argument("--budget", type=float, default=480, help="seconds (default: 480)")
    parser.add_argument("--force", action="store_true", help="rewrite the page also on a busy machine")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    busy = busy_cores()
    by_cost = lambda study: study[0] * 5 + study[1]
    studies = sorted({*LINE_OF_VOTES, *LINE_OF_ITEMS}, key=by_cost) + sorted(CORNERS, key=by_cost)
    if given.quick:
        studies = [study for study in studies if study[1] <= MILLION]
    results, left_out = {}, []
    for items, votes in studies:
        remaining = given.budget - (time.monotonic() - started)
        if remaining <= 0:
            left_out += [(items, votes, method) for method in METHODS]
            continue
        file = data(items, votes)
        for method, flags in METHODS.items():
            remaining = given.budget - (time.monotonic() - started)
            try:
                found = measure(file, flags, min(LIMIT, max(remaining, 1)))
            except TooSlow:
                left_out.append((items, votes, method))
                continue
            results[items, votes, method] = found
            log(f"{items:,} items, {votes:,} votes, {method}: {found[0]:.2f} s, {found[1]:.0f} MB")
    text = page(results, left_out, busy)
    print(text)
    lines = {
        "votes": {m: line(results, LINE_OF_VOTES, m, 1) for m in METHODS},
        "items": {m: line(results, LINE_OF_ITEMS, m, 0) for m in METHODS},
    }
    picture = chart(lines, f"{ITEMS:,} items", f"{VOTES:,} votes")
    if not given.quick and (given.force or (busy or 0.0) <= MAX_BUSY):
        write_page(text)
        CHART.write_text(picture)
        log(f"wrote {PAGE.relative_to(ROOT)} and {CHART.relative_to(ROOT)}")
    else:
        (DATA / "growth.md").write_text(text)
        (DATA / "growth.svg").write_text(picture)
        log(f"{'quick' if given.quick else 'busy machine'}: wrote bench-data/growth.md and growth.svg; docs/ is unchanged")
    return 0


def data(items, votes):
    """Returns a Parquet file with such a study; that with 1,000 items is shared with benches/ingest.py."""
    shared = items == ITEMS and votes >= MILLION
    file = DATA / (f"votes-{votes // MILLION}m.parquet" if shared else f"growth-{items}-{votes}.parquet")
    if not file.exists():
        simulate(
            PROGRAM, file, "--items", items, "--votes", votes, "--flips", "10%", "--ties", "10%",
            "--noise", "bradley-terry", "--seed", 1,
        )  # fmt: skip
    return file


def measure(file, flags, limit):
    """Returns seconds, megabytes and the number of distinct votes."""
    out = DATA / "growth.json"
    command = [PROGRAM, "rank", file, *flags, "--quiet", "--format", "json", "-o", out]
    run, _ = run_child(command, limit=limit)
    runs = [run]
    if run.seconds < SHORT:
        runs += [run_child(command, limit=limit)[0] for _ in range(2)]
    # The summary of the input comes before the ranking. Reading all of it would take memory of this process, which
    # counts as memory of the processes that it starts.
    with out.open() as text:
        groups = int(re.search(r'"groups": (\d+)', text.read(1 << 16))[1])
    out.unlink()
    return sorted(run.seconds for run in runs)[len(runs) // 2], max(run.megabytes for run in runs), groups


def line(results, studies, method, axis):
    """The points of one line: votes or items, seconds, megabytes."""
    found = [(study[axis], results.get((*study, method))) for study in studies]
    return [(x, result[0], result[1]) for x, result in found if result]


def exponent(points):
    """Returns the slope of least squares of log y over log x; None for fewer than two points."""
    if len(points) < 2:
        return None
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def exponent_rows(results):
    name = {LINE_OF_VOTES[0]: f"votes, on {ITEMS:,} items", LINE_OF_ITEMS[0]: f"items, with {VOTES:,} votes"}
    for studies, axis in [(LINE_OF_VOTES, 1), (LINE_OF_ITEMS, 0)]:
        for method in METHODS:
            points = line(results, studies, method, axis)
            cells = []
            for column in (1, 2):
                for part in (points, points[-2:]):
                    slope = exponent([(point[0], point[column]) for point in part])
                    cells.append("–" if slope is None else f"{slope:.2f}")
            yield f"| {name[studies[0]]} | {method} | " + " | ".join(cells) + " |"


def page(results, left_out, busy):
    lines = [
        f"Measured on {datetime.date.today()} with {os.cpu_count()} cores, {platform.machine()}"
        f"{how_busy(busy)}. Whole process, from a Parquet file to the ranking as JSON; "
        f"the median of three runs if it takes less than {SHORT:.0f} s.",
        "",
        "![Time and memory over votes and items](../images/growth.svg)",
        "",
        "| items | votes | distinct votes | `--method l2` s | MB | default s | MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for items, votes in sorted({key[:2] for key in results}):
        cells = []
        for method in METHODS:
            found = results.get((items, votes, method))
            cells += [f"{found[0]:.2f}", f"{found[1]:.0f}"] if found else ["–", "–"]
        groups = next(results[items, votes, m][2] for m in METHODS if (items, votes, m) in results)
        lines.append(f"| {items:,} | {votes:,} | {groups:,} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "Exponents: time and memory grow like this power of the number of votes or items. The first value is "
        "fitted to the whole line of studies, the second to its two largest.",
        "",
        "| grows with | method | time | largest two | memory | largest two |",
        "|---|---|---:|---:|---:|---:|",
        *exponent_rows(results),
    ]
    if left_out:
        listed = "; ".join(f"{items:,} items, {votes:,} votes, {method}" for items, votes, method in left_out)
        lines += ["", f"Left out, because they take too long: {listed}."]
    return "\n".join(lines)


def write_page(text):
    """Replaces what is between the markers of the page."""
    old = PAGE.read_text()
    new, count = re.subn(
        r"(<!-- growth: begin.*?-->\n).*?(<!-- growth: end -->)",
        lambda found: f"{found[1]}\n{text}\n\n{found[2]}",
        old,
        flags=re.DOTALL,
    )
    if count != 1:
        raise SystemExit(f"{PAGE} has no markers")
    PAGE.write_text(new)


if __name__ == "__main__":
    sys.exit(main())
