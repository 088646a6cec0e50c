#!/usr/bin/env python3
"""Reading votes: `hodgerank rank` beside DuckDB, and how long a cold build takes.

Both programs read the same file with two threads, in turns, several rounds. Ours reads, merges
the votes and ranks the items: the wall time of the whole process counts. DuckDB counts the votes
of each kind (GROUP BY left, right, winner) into a temporary table: only the query counts, not the
start of Python. Peak memory is that of the whole child process on both sides. Each file is read
once by each program before the clock starts, so that it stands in the page cache.

Run it with `scripts/bench`, which builds the program and provides DuckDB. Data and results are
kept in bench-data/.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "bench-data"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
THREADS = 2
MILLION = 1_000_000

LARGEST_RATIO = 1.0
AIMED_RATIO = 0.5
LARGEST_MEMORY_MB = {MILLION: 300, 10 * MILLION: 300, 100 * MILLION: 500}
LARGEST_SLOWDOWN = 1.2  # of the time for a row at 100 million rows over that at 1 million
LARGEST_BUILD_SECONDS = 480
# The CSV file has about 25 bytes a row, the Parquet file about 3; and some room to work in.
BYTES_A_ROW = 40


class Failure(Exception):
    """Something that ends the run, in words for the user."""


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
    ours: list[Run]
    duckdb: list[Run]

    @property
    def ratio(self) -> float:
        return median_seconds(self.ours) / median_seconds(self.duckdb)

    @property
    def nanoseconds_a_row(self) -> float:
        return median_seconds(self.ours) * 1e9 / self.rows


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
        "--quick", action="store_true", help="1 million rows only, and no cold build"
    )
    parser.add_argument("--no-build", action="store_true", help="do not time a cold build")
    parser.add_argument("--fresh", action="store_true", help="make the data again")
    parser.add_argument("--rounds", type=int, default=5, help="rounds for each file (default: 5)")
    parser.add_argument(
        "--program",
        type=pathlib.Path,
        default=TARGET / "release" / "hodgerank",
        help="the program to measure (default: the release build)",
    )
    parser.add_argument("--duckdb-child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
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
        except NoRoom as no_room:
            say(str(no_room))
            notes.append(str(no_room))
            continue
        # The largest files take long, and their times scatter less.
        rounds = min(options.rounds, 3) if rows > 10 * MILLION else options.rounds
        results += [measure(options.program, file, rows, rounds) for file in files]
    if not (options.quick or options.no_build):
        notes.append(cold_build())
    text = report(results, notes)
    (DATA / "results.md").write_text(text)
    print(text)
    say("the same table is in bench-data/results.md")


# Data


class NoRoom(Failure):
    """The disk is too full for the data."""


def make_data(program: pathlib.Path, rows: int, fresh: bool) -> list[pathlib.Path]:
    """The CSV file and the Parquet file with `rows` votes, made where they are missing."""
    files = [DATA / f"votes-{rows // MILLION}m.{kind}" for kind in ("csv", "parquet")]
    missing = [file for file in files if fresh or not file.exists()]
    needed, free = rows * BYTES_A_ROW, shutil.disk_usage(DATA).free
    if missing and free < needed:
        raise NoRoom(
            f"{rows:,} rows left out: bench-data/ needs {needed / 1e9:.1f} GB"
            f" and the disk has {free / 1e9:.1f} GB free"
        )
    for file in missing:
        say(f"making {file.name}")
        part = file.with_name(f"part-{file.name}")
        run_child([
            program, "simulate", "--items", "1000", "--votes", str(rows), "--flips", "10%",
            "--ties", "10%", "--noise", "bradley-terry", "--seed", "1", "-o", part,
        ])  # fmt: skip
        part.replace(file)
    return files


# Measuring


def measure(program: pathlib.Path, file: pathlib.Path, rows: int, rounds: int) -> Result:
    say(f"measuring {file.name}, rounds: {rounds}")
    check_ours(program, file, rows)
    run_duckdb(file, rows)
    result = Result(rows, file.suffix[1:], [], [])
    for _ in range(rounds):
        result.ours.append(run_ours(program, file))
        result.duckdb.append(run_duckdb(file, rows))
    return result


def rank_command(program: pathlib.Path, file: pathlib.Path) -> list:
    threads = str(THREADS)
    return [program, "rank", "--method", "l2", "--threads", threads, "--format", "json", file]


def check_ours(program: pathlib.Path, file: pathlib.Path, rows: int) -> None:
    """An unmeasured run, which must have read every row."""
    _, output = run_child(rank_command(program, file))
    seen = json.loads(output)["input"]["rows"]
    if seen != rows:
        raise Failure(f"hodgerank read {seen} rows of {file.name}, not {rows}")


def run_ours(program: pathlib.Path, file: pathlib.Path) -> Run:
    run, _ = run_child([*rank_command(program, file), "-o", os.devnull])
    return run


def run_duckdb(file: pathlib.Path, rows: int) -> Run:
    run, output = run_child([sys.executable, __file__, "--duckdb-child", file])
    answer = json.loads(output)
    if answer["votes"] != rows:
        raise Failure(f"DuckDB counted {answer['votes']} rows of {file.name}, not {rows}")
    return Run(answer["seconds"], run.megabytes)


def duckdb_child(file: str) -> int:
    """Runs in a process of its own: groups the file, and prints the query's time as JSON."""
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


def run_child(command: list) -> tuple[Run, bytes]:
    """Wall time, peak resident memory and standard output of a command."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=messages)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            messages.seek(0)
            words = messages.read().decode(errors="replace").strip()
            line = " ".join(str(word) for word in command)
            raise Failure(f"exit code {child.returncode} from: {line}\n{words}")
        output.seek(0)
        # Linux counts in KiB, macOS in bytes.
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(seconds, usage.ru_maxrss * unit / 1e6), output.read()


def cold_build() -> str:
    """Times a build of everything, downloads not counted, and says how it went."""
    say("timing a cold `cargo build --release`; this takes some minutes")
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "CARGO_TARGET_DIR": empty}
        fetched = subprocess.run(["cargo", "fetch", "--quiet"], cwd=ROOT)
        start = time.perf_counter()
        build = ["cargo", "build", "--release", "--quiet"]
        built = subprocess.run(build, cwd=ROOT, env=environment)
        seconds = time.perf_counter() - start
    if fetched.returncode != 0 or built.returncode != 0:
        return "cold `cargo build --release`: FAILED"
    held = verdict(seconds <= LARGEST_BUILD_SECONDS)
    return f"cold `cargo build --release`: {seconds:.0f} s; at most {LARGEST_BUILD_SECONDS}: {held}"


# Reporting


def report(results: list[Result], notes: list[str]) -> str:
    lines = [
        f"Measured on {datetime.date.today()}: {os.cpu_count()} cores, {platform.machine()},"
        f" {THREADS} threads, DuckDB {duckdb_version()}. Seconds are medians, with the fastest and"
        " the slowest round in brackets; MB is the peak resident memory of the process.",
        "",
        "| rows | format | hodgerank s | MB | DuckDB s | MB | ratio | ns/row | targets |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---|",
        *(table_row(result) for result in results),
        "",
        "`ratio` is hodgerank over DuckDB; `ns/row` is hodgerank's whole process, start included.",
        "",
        *(f"- {line}" for line in [*scaling(results), *notes]),
    ]
    return "\n".join(lines) + "\n"


def table_row(result: Result) -> str:
    memory, limit = peak(result.ours), LARGEST_MEMORY_MB[result.rows]
    aim = f" (aim {AIMED_RATIO} {'reached' if result.ratio <= AIMED_RATIO else 'not reached'})"
    targets = [
        f"ratio ≤ {LARGEST_RATIO}: {verdict(result.ratio <= LARGEST_RATIO)}{aim}",
        f"≤ {limit} MB: {verdict(memory <= limit)}",
    ]
    return (
        f"| {result.rows:,} | {result.format} | {spread(result.ours)} | {memory:.0f}"
        f" | {spread(result.duckdb)} | {peak(result.duckdb):.0f} | {result.ratio:.2f}"
        f" | {result.nanoseconds_a_row:.0f} | {'; '.join(targets)} |"
    )


def scaling(results: list[Result]) -> list[str]:
    """Whether a row costs the same in the largest file as in the smallest, for each format."""
    lines = []
    for kind in dict.fromkeys(result.format for result in results):
        cost = {r.rows: r.nanoseconds_a_row for r in results if r.format == kind}
        if not {MILLION, 100 * MILLION} <= cost.keys():
            continue
        slowdown = cost[100 * MILLION] / cost[MILLION]
        lines.append(
            f"{kind}: a row at 100 million rows costs {slowdown:.2f} times a row at 1 million;"
            f" at most {LARGEST_SLOWDOWN}: {verdict(slowdown <= LARGEST_SLOWDOWN)}"
        )
    return lines


def verdict(holds: bool) -> str:
    return "holds" if holds else "MISSED"


def spread(runs: list[Run]) -> str:
    seconds = [run.seconds for run in runs]
    digits = 3 if max(seconds) < 1 else 2
    low, middle, high = min(seconds), median_seconds(runs), max(seconds)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def median_seconds(runs: list[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def peak(runs: list[Run]) -> float:
    return max(run.megabytes for run in runs)


def duckdb_version() -> str:
    command = [sys.executable, "-c", "import duckdb; print(duckdb.__version__)"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def say(message: str) -> None:
    print(f"ingest.py: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
