#!/usr/bin/env python3
"""Compares `hodgerank rank` with DuckDB.

Both programs read the same file with two threads, alternately, in several rounds. hodgerank reads and
merges the votes and ranks the items; the wall time of the whole process is measured. DuckDB counts
distinct votes (GROUP BY left, right, winner) into a temporary table; only the query is measured, not the
start of Python. Peak memory is that of the whole child process for both. Each program reads each file once
before the measurements, so that the file is in the page cache.

Run it with `scripts/bench`, which builds the program and installs DuckDB. Data and results are written to
bench-data/.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "bench-data"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
THREADS = 2
MILLION = 1_000_000

MAX_RATIO = 1.0
GOAL_RATIO = 0.5
MAX_MEMORY_MB = {MILLION: 300, 10 * MILLION: 300, 100 * MILLION: 500}
MAX_SLOWDOWN = 1.2  # time per row at 100 million rows divided by that at 1 million
# The CSV file has about 25 bytes per row and the Parquet file about 3; the rest is a margin.
BYTES_PER_ROW = 40


class Failure(Exception):
    """A failure that ends the run, with a message for the user."""


class TooSlow(Failure):
    """A command took longer than its limit."""


@dataclasses.dataclass
class Run:
    """One measured child process."""

    seconds: float
    megabytes: float


@dataclasses.dataclass
class Result:
    """The rounds on one file."""

    rows: int
    format: str
    hodgerank: list[Run]
    duckdb: list[Run]

    @property
    def ratio(self) -> float:
        return median_seconds(self.hodgerank) / median_seconds(self.duckdb)

    @property
    def nanoseconds_per_row(self) -> float:
        return median_seconds(self.hodgerank) * 1e9 / self.rows


def main() -> int:
    options = parse_options()
    if options.duckdb_child:
        return duckdb_child(options.duckdb_child)
    try:
        bench(options)
    except Failure as failure:
        print(f"ingest.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="1 million rows only"
    )
    parser.add_argument("--fresh", action="store_true", help="generate the data again")
    parser.add_argument("--rounds", type=int, default=3, help="rounds for each file (default: 3)")
    parser.add_argument(
        "--program",
        type=pathlib.Path,
        default=TARGET / "release" / "hodgerank",
        help="the program to measure (default: the release build)",
    )
    parser.add_argument("--duckdb-child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def bench(options: argparse.Namespace) -> None:
    if not options.program.is_file():
        raise Failure(f"{options.program} does not exist; run `cargo build --release` first")
    sizes = [MILLION] if options.quick else [MILLION, 10 * MILLION, 100 * MILLION]
    DATA.mkdir(exist_ok=True)
    results, notes = [], []
    for rows in sizes:
        try:
            files = make_data(options.program, rows, options.fresh)
        except DiskFull as error:
            log(str(error))
            notes.append(str(error))
            continue
        # The smallest files take no time; the largest take long, and their times vary less.
        rounds = {MILLION: 2 * options.rounds, 100 * MILLION: min(options.rounds, 2)}.get(rows, options.rounds)
        results += [measure(options.program, file, rows, rounds) for file in files]
    text = report(results, notes)
    (DATA / "results.md").write_text(text)
    print(text)
    log("the same table is in bench-data/results.md")


# Data


class DiskFull(Failure):
    """There is not enough disk space for the data."""


def make_data(program: pathlib.Path, rows: int, fresh: bool) -> list[pathlib.Path]:
    """Returns a CSV and a Parquet file with `rows` votes; generates them if they are missing."""
    files = [DATA / f"votes-{rows // MILLION}m.{kind}" for kind in ("csv", "parquet")]
    missing = [file for file in files if fresh or not file.exists()]
    needed, free = rows * BYTES_PER_ROW, shutil.disk_usage(DATA).free
    if missing and free < needed:
        raise DiskFull(
            f"{rows:,} rows skipped: bench-data/ needs {needed / 1e9:.1f} GB,"
            f" but only {free / 1e9:.1f} GB are free"
        )
    for file in missing:
        simulate(
            program, file, "--items", 1000, "--votes", rows, "--flips", "10%", "--ties", "10%",
            "--noise", "bradley-terry", "--seed", 1,
        )  # fmt: skip
    return files


def simulate(program: pathlib.Path, file: pathlib.Path, *arguments) -> pathlib.Path:
    """Generates a file with `hodgerank simulate`; it appears whole or not at all."""
    log(f"generating {file.name}")
    DATA.mkdir(exist_ok=True)
    part = file.with_name(f"part-{file.name}")
    run_child([program, "simulate", *arguments, "-o", part])
    part.replace(file)
    return file


# Measuring


def measure(program: pathlib.Path, file: pathlib.Path, rows: int, rounds: int) -> Result:
    log(f"measuring {file.name}, rounds: {rounds}")
    check_hodgerank(program, file, rows)
    run_duckdb(file, rows)
    result = Result(rows, file.suffix[1:], [], [])
    for _ in range(rounds):
        result.hodgerank.append(run_hodgerank(program, file))
        result.duckdb.append(run_duckdb(file, rows))
    return result


def rank_command(program: pathlib.Path, file: pathlib.Path) -> list:
    threads = str(THREADS)
    return [program, "rank", "--method", "l2", "--threads", threads, "--format", "json", file]


def check_hodgerank(program: pathlib.Path, file: pathlib.Path, rows: int) -> None:
    """Runs once without measuring, and checks that every row was read."""
    _, output = run_child(rank_command(program, file))
    read = json.loads(output)["input"]["rows"]
    if read != rows:
        raise Failure(f"hodgerank read {read} rows of {file.name}, not {rows}")


def run_hodgerank(program: pathlib.Path, file: pathlib.Path) -> Run:
    run, _ = run_child([*rank_command(program, file), "-o", os.devnull])
    return run


def run_duckdb(file: pathlib.Path, rows: int) -> Run:
    run, output = run_child([sys.executable, __file__, "--duckdb-child", file])
    answer = json.loads(output)
    if answer["votes"] != rows:
        raise Failure(f"DuckDB counted {answer['votes']} rows of {file.name}, not {rows}")
    return Run(answer["seconds"], run.megabytes)


def duckdb_child(file: str) -> int:
    """Runs as a child process: groups the votes of the file and prints the query time as JSON."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")
    connection.execute("SET enable_progress_bar = false")
    reader = "read_parquet" if file.endswith(".parquet") else "read_csv"
    source = f"{reader}('{file.replace(chr(39), chr(39) * 2)}')"
    start = time.perf_counter()
    connection.execute(
        'CREATE TEMP TABLE merged AS SELECT "left", "right", winner, count(*) AS votes'
        f" FROM {source} GROUP BY ALL"
    )
    seconds = time.perf_counter() - start
    (votes,) = connection.execute("SELECT sum(votes)::BIGINT FROM merged").fetchone()
    print(json.dumps({"seconds": seconds, "votes": votes}))
    return 0


def run_child(command: list, limit: float | None = None, **more) -> tuple[Run, bytes]:
    """Returns wall time, peak resident memory and standard output of a command.

    After `limit` seconds the command and its children are killed, and TooSlow is raised.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(word) for word in command],
            stdout=output,
            stderr=messages,
            start_new_session=limit is not None,
            **more,
        )
        timer = threading.Timer(limit or 0.0, os.killpg, [child.pid, signal.SIGKILL])
        if limit is not None:
            timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            if limit is not None:
                os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - start
        if limit is not None and seconds >= limit:
            raise TooSlow(f"longer than {limit:.0f} s")
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            messages.seek(0)
            text = messages.read().decode(errors="replace").strip()
            line = " ".join(str(word) for word in command)
            raise Failure(f"exit code {child.returncode} from: {line}\n{text}")
        output.seek(0)
        # The unit is KiB on Linux and bytes on macOS.
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(seconds, usage.ru_maxrss * unit / 1e6), output.read()


# Reporting


def report(results: list[Result], notes: list[str]) -> str:
    lines = [
        f"Measured on {datetime.date.today()} with {os.cpu_count()} cores, {platform.machine()},"
        f" {THREADS} threads, DuckDB {duckdb_version()}. Seconds are medians, with the fastest and"
        " slowest round in brackets. MB is the peak resident memory of the process.",
        "",
        "| rows | format | hodgerank s | MB | DuckDB s | MB | ratio | ns/row | targets |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---|",
        *(table_row(result) for result in results),
        "",
        "`ratio` is the time of hodgerank divided by that of DuckDB. `ns/row` is the time of the whole"
        " hodgerank process, including start-up, divided by the number of rows.",
        "",
        *(f"- {line}" for line in [*scaling(results), *notes]),
    ]
    return "\n".join(lines) + "\n"


def table_row(result: Result) -> str:
    memory, limit = peak(result.hodgerank), MAX_MEMORY_MB[result.rows]
    goal = f" (goal {GOAL_RATIO} {'met' if result.ratio <= GOAL_RATIO else 'missed'})"
    targets = [
        f"ratio ≤ {MAX_RATIO}: {verdict(result.ratio <= MAX_RATIO)}{goal}",
        f"≤ {limit} MB: {verdict(memory <= limit)}",
    ]
    return (
        f"| {result.rows:,} | {result.format} | {spread(result.hodgerank)} | {memory:.0f}"
        f" | {spread(result.duckdb)} | {peak(result.duckdb):.0f} | {result.ratio:.2f}"
        f" | {result.nanoseconds_per_row:.0f} | {'; '.join(targets)} |"
    )


def scaling(results: list[Result]) -> list[str]:
    """Compares the time per row in the largest file with that in the smallest, for each format."""
    lines = []
    for kind in dict.fromkeys(result.format for result in results):
        cost = {r.rows: r.nanoseconds_per_row for r in results if r.format == kind}
        if not {MILLION, 100 * MILLION} <= cost.keys():
            continue
        slowdown = cost[100 * MILLION] / cost[MILLION]
        lines.append(
            f"{kind}: time per row at 100 million rows is {slowdown:.2f} times that at 1 million"
            f" (target: at most {MAX_SLOWDOWN}): {verdict(slowdown <= MAX_SLOWDOWN)}"
        )
    return lines


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def spread(runs: list[Run]) -> str:
    seconds = [run.seconds for run in runs]
    digits = 3 if max(seconds) < 1 else 2
    low, middle, high = min(seconds), median_seconds(runs), max(seconds)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def median_seconds(runs: list[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def peak(runs: list[Run]) -> float:
    return max(run.megabytes for run in runs)


def busy_cores(seconds: float = 2.0) -> float | None:
    """Returns how many cores are busy now; None where /proc/stat is missing."""

    def used() -> tuple[int, int]:
        numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
        return sum(numbers[:8]) - numbers[3] - numbers[4], sum(numbers[:8])

    try:
        before = used()
        time.sleep(seconds)
        after = used()
    except OSError:
        return None
    return (os.cpu_count() or 1) * (after[0] - before[0]) / max(after[1] - before[1], 1)


def how_busy(cores: float | None) -> str:
    return "" if cores is None else f"; cores used by others before the first measurement: {cores:.1f}"


def duckdb_version() -> str:
    command = [sys.executable, "-c", "import duckdb; print(duckdb.__version__)"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def log(message: str) -> None:
    print(f"ingest.py: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
