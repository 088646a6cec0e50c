#!/usr/bin/env python3
"""Measures the targets of performance, each beside its peer where it has one, and prints them as a table.

    .venv-bench/bin/python benches/targets.py [--quick] [--cold-build] [--glmnet-only]

Whole processes are timed, from the CSV file to the result, except for the Huber-LASSO paths, which start from
votes in memory as glmnet does. Run it with `scripts/bench targets`, which builds the programs first. The table
is also written to bench-data/targets.md. A row that fails says so in the table, and the exit code is 1; a target
that is missed is no failure.
"""

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time

from ingest import (
    DATA, MILLION, ROOT, TARGET, Failure, TooSlow, busy_cores, duckdb_version, how_busy, log, make_data,
    median_seconds, peak, run_child, run_duckdb, simulate, spread,
)  # fmt: skip

PROGRAM = TARGET / "release" / "hodgerank"
GLMNET = DATA / "glmnet.json"
PATH_LIMIT = 12 * 60  # seconds
COMMAND_LIMIT = 4 * 60

# Whole programs with the same name as the row of benches/huber_lasso.rs.
LARGE_PATH = "1M items, 10M votes, 10% flips"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the studies of a million items")
    parser.add_argument("--cold-build", action="store_true", help="also time a cold build of the demo")
    parser.add_argument("--glmnet-only", action="store_true", help="only compare with glmnet")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    DATA.mkdir(exist_ok=True)
    if given.glmnet_only:
        print(glmnet())
        return 0
    busy = busy_cores()
    rows = [*small_rows(), *(() if given.quick else large_rows())]
    if given.cold_build:
        rows.append(cold_build_row())
    table, notes, failed = ["| work | before | wanted | measured | met |", "|---|---|---|---|---|"], [], False
    # The rows of the large studies belong after the second row.
    for row in sorted(rows, key=lambda row: row["place"]):
        log(f"measuring: {row['work']}")
        try:
            measured, met, note = row["measure"]()
        except TooSlow as error:
            measured, met, note = str(error), False, None
        except (Failure, subprocess.SubprocessError, OSError, ValueError) as error:
            log(f"FAILED: {error}")
            measured, met, note, failed = "FAILED", False, None, True
        table.append(
            f"| {row['work']} | {row['before']} | {row['wanted']} | {measured} | {answer(met)} |"
        )
        log(table[-1])
        notes += [note] if note else []
    lines = [
        f"Measured on {datetime.date.today()} with {os.cpu_count()} cores, {platform.machine()}"
        f"{how_busy(busy)}. Medians, with the fastest and the slowest in brackets.",
        "", *table, "", *(f"- {note}" for note in notes),
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    (DATA / "targets.md").write_text(text)
    print("\n" + text)
    return int(failed)


def answer(met):
    """"yes" or "no", for each part of a target."""
    parts = met if isinstance(met, tuple) else (met,)
    return " / ".join("yes" if part else "no" for part in parts)


def row(place, work, before, wanted, measure):
    return {"place": place, "work": work, "before": before, "wanted": wanted, "measure": measure}


def small_rows():
    work = "hlasso, 100 λ, 1,000 items, 300,000 votes, 20% flips: times glmnet on votes / merged"
    yield row(1, work, "28 / 17", "100 / 60", lambda: glmnet_row(1000, 100, 60))
    yield row(2, "the same, 16 items, 2,000 votes", "49 / 44", "150 / 100", lambda: glmnet_row(16, 150, 100))
    yield row(4, "iss, 1,000 items, 300,000 votes, to 5% flagged", "48 s", "2 s", iss_row)
    work = "robust default, 10,000,000-row CSV, 1,000 items, over DuckDB's GROUP BY alone"
    yield row(5, work, "0.87", "0.6", duckdb_row)
    yield row(9, "report, 500 items, 1,000,000 votes", "3.5 s", "2 s", report_row)


def large_rows():
    work = "hlasso, 100 λ, 1,000,000 items, 10,000,000 votes"
    yield row(3, work, "does not end", "10 minutes, 3 GB", path_row)
    work = "default on 1,000,000 items, 10,000,000 votes, CSV to ranking"
    yield row(6, work, "260 to 346 s", "45 s", lambda: million("rank", 45, 1))
    yield row(7, "diagnose on the same", "226 s, 2.6 GB", "60 s", lambda: million("diagnose", 60, 1))
    yield row(8, "l2 on the same, CSV to ranking", "12 s", "6 s", lambda: million("l2", 6, 3))


# Rows. Each returns what was measured, whether it meets the target, and a note or None.


def glmnet():
    """Compares with glmnet, unless this run of scripts/bench has done so; returns the table."""
    if not GLMNET.exists():
        command = ["cargo", "bench", "--quiet", "--workspace", "--bench", "glmnet"]
        _, output = run_child(command, limit=COMMAND_LIMIT, cwd=ROOT)
        GLMNET.write_text(json.dumps({"table": output.decode()}))
    return json.loads(GLMNET.read_text())["table"]


def glmnet_row(items, wanted, wanted_merged):
    ratios, notes = {}, []
    for line in glmnet().splitlines():
        cells = [cell.strip() for cell in line.strip("| \n").split("|")]
        if cells[0] == str(items):
            ours, theirs, objective = float(cells[4]), float(cells[5]), cells[7]
            ratios[cells[2]] = theirs / ours
            notes.append(f"{cells[2]}: {ours:.2f} ms, glmnet {theirs:,.0f} ms, objective {objective}")
    if len(ratios) != 2:
        raise Failure("the benchmark of glmnet printed something else:\n" + glmnet())
    votes, merged = ratios["votes"], ratios["merged votes"]
    note = f"hlasso, {items:,} items: {'; '.join(notes)}"
    return f"{votes:.0f} / {merged:.0f}", (votes >= wanted, merged >= wanted_merged), note


def path_row():
    command = ["cargo", "bench", "--quiet", "--workspace", "--bench", "huber_lasso", "--"]
    _, output = run_child([*command, "--large", LARGE_PATH], limit=PATH_LIMIT, cwd=ROOT)
    line = next((line for line in output.decode().splitlines() if line.startswith(LARGE_PATH)), None)
    if line is None:
        raise Failure("the benchmark huber_lasso printed something else:\n" + output.decode())
    _, milliseconds, knots, _, megabytes, status = line[len(LARGE_PATH) :].split()
    minutes, gigabytes = float(milliseconds) / 6e4, float(megabytes) / 1e3
    note = f"hlasso on a million items: {knots} λ, status {status}; the votes are generated in the same process"
    return f"{minutes:.1f} minutes, {gigabytes:.1f} GB", (minutes <= 10, gigabytes <= 3), note


def iss_row():
    file = data("iss.csv", "--items", 1000, "--votes", 300_000, "--flips", "20%", "--seed", 1)
    runs = repeat(["rank", file, "--method", "iss", "--outliers", "5%"], 3)
    return seconds(runs), median_seconds(runs) <= 2, None


def duckdb_row():
    file = make_data(PROGRAM, 10 * MILLION, False)[0]
    ours, theirs = [], []
    for _ in range(5):
        ours += repeat(["rank", file, "--threads", 2], 1)
        theirs.append(run_duckdb(file, 10 * MILLION))
    ratio = median_seconds(ours) / median_seconds(theirs)
    note = (
        f"robust default: {spread(ours)} s, {peak(ours):.0f} MB; DuckDB {duckdb_version()}: "
        f"{spread(theirs)} s, {peak(theirs):.0f} MB"
    )
    return f"{ratio:.2f}", ratio <= 0.6, note


def million(what, wanted, rounds):
    file = data(
        "million.csv", "--items", MILLION, "--votes", 10 * MILLION, "--flips", "10%",
        "--noise", "bradley-terry", "--seed", 2,
    )  # fmt: skip
    command = {
        "rank": ["rank", file],
        "diagnose": ["diagnose", file, "--outliers", "10%"],
        "l2": ["rank", file, "--method", "l2"],
    }[what]
    runs = repeat(command, rounds)
    return f"{seconds(runs)}, {peak(runs) / 1e3:.1f} GB", median_seconds(runs) <= wanted, None


def report_row():
    file = data("report.csv", "--items", 500, "--votes", MILLION, "--flips", "10%", "--seed", 3)
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "report", file, "--quiet", "-o", f"{folder}/report.html"]
        runs = [run_child(command, limit=COMMAND_LIMIT)[0] for _ in range(5)]
    return seconds(runs), median_seconds(runs) <= 2, f"report: {peak(runs):.0f} MB"


def cold_build_row():
    def measure():
        with tempfile.TemporaryDirectory() as folder:
            run_child(["cargo", "fetch", "--quiet"], cwd=ROOT)
            environment = {**os.environ, "CARGO_TARGET_DIR": f"{folder}/target"}
            command = ["cargo", "run", "--release", "--manifest-path", ROOT / "Cargo.toml", "--", "demo"]
            run, _ = run_child(command, limit=15 * 60, cwd=folder, env=environment)
        minutes, rest = divmod(round(run.seconds), 60)
        return f"{minutes} min {rest} s", run.seconds <= 210, None

    return row(10, "cold `cargo run --release -- demo`", "6 min 51 s", "3 min 30 s", measure)


def data(name, *arguments):
    """Returns a file of simulated votes, which is generated if it is missing."""
    file = DATA / name
    return file if file.exists() else simulate(PROGRAM, file, *arguments)


def repeat(command, rounds):
    # The result goes to a file, as a user's would.
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, *command, "--quiet", "--format", "json", "-o", f"{folder}/out.json"]
        return [run_child(command, limit=COMMAND_LIMIT)[0] for _ in range(rounds)]


def seconds(runs):
    return f"{spread(runs)} s" if len(runs) > 1 else f"{median_seconds(runs):.1f} s"


if __name__ == "__main__":
    started = time.perf_counter()
    code = main()
    log(f"took {time.perf_counter() - started:.0f} s")
    sys.exit(code)
