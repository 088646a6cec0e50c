#!/usr/bin/env python3
"""hodgerank-mpi on one rank and on several, beside the threads of hodgerank, in turns.

    benches/mpi.py [--items N] [--votes N] [--rounds N] [--ranks 1,2,4]

Time: a step of Algorithm 4 on votes that are kept apart, one thread a rank; then the same in one
process with as many threads, which is what one machine would do. Memory: the most that a rank of
`hodgerank-mpi rank` held, reading the same Parquet file. Seconds are medians over all rounds.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
MPIRUN = ["mpirun", "--oversubscribe"]
if os.geteuid() == 0:
    MPIRUN.append("--allow-run-as-root")


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--votes", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", default="1,2,4")
    given = parser.parse_args()
    ranks = [int(number) for number in given.ranks.split(",")]
    cores = os.cpu_count()

    build = ["cargo", "build", "--release", "--quiet", "-p", "hodgerank-mpi", "-p", "hodgerank-cli"]
    run([*build, "--bins", "--examples"])
    size = ["--items", given.items, "--votes", given.votes]
    example = TARGET / "examples" / "scaling"
    ways = {f"{n} ranks": [*MPIRUN, "-n", n, example, *size] for n in ranks}
    for threads in sorted({1, cores}):
        ways[f"{threads} threads"] = [example, *size, "--alone", "--threads", threads]
    found = {name: [] for name in ways}
    for _ in range(given.rounds):
        for name, command in ways.items():
            found[name].append(json.loads(run(command).stdout))

    steps = {
        name: statistics.median(s for line in lines for s in line["seconds_per_step"])
        for name, lines in found.items()
    }
    first = steps[f"{ranks[0]} ranks"]
    print(f"\n{given.votes:,} votes kept apart, {given.items:,} items, {cores} cores\n")
    print("| who | a step | speed-up over one rank | ns a vote and step | most memory of one |")
    print("|---|---|---|---|---|")
    for name, seconds in steps.items():
        memory = max(line["bytes"] for line in found[name]) / 1e6
        per_vote = 1e9 * seconds / given.votes
        print(f"| {name} | {1e3 * seconds:.2f} ms | {first / seconds:.2f} | {per_vote:.2f} | {memory:.0f} MB |")
    both = f"{cores} ranks", f"{cores} threads"
    if all(name in steps for name in both):
        print(f"\n{cores} ranks take {steps[both[0]] / steps[both[1]]:.2f} times as long as {cores} threads of one process.")

    print("\n| numbers added up | " + " | ".join(f"{n} ranks" for n in ranks if n > 1) + " |")
    print("|---|" + "---|" * sum(n > 1 for n in ranks))
    lines = {n: found[f"{n} ranks"] for n in ranks if n > 1}
    for k, (length, _) in enumerate(found[f"{ranks[0]} ranks"][0]["sums"]):
        cells = [statistics.median(line["sums"][k][1] for line in lines[n]) for n in lines]
        print(f"| {length:,} | " + " | ".join(f"{1e6 * cell:.0f} µs" for cell in cells) + " |")

    with tempfile.TemporaryDirectory() as folder:
        memory_of_ranks(Path(folder), ranks)


def memory_of_ranks(folder, ranks):
    """Peak memory of the program, for which distinct votes count: 20,000 items, 10 million votes."""
    votes = folder / "votes.parquet"
    study = ["simulate", "--items", 20_000, "--votes", 10_000_000, "--seed", 1, "--quiet"]
    run([TARGET / "hodgerank", *study, "--output", votes])
    print("\n| ranks | distinct votes | most memory of one rank | seconds |")
    print("|---|---|---|---|")
    for n in ranks:
        rank = [TARGET / "hodgerank-mpi", "rank", votes, "--method", "lbi", "--outliers", "5%"]
        rank += ["--format", "json", "--output", folder / f"{n}.json"]
        started = os.times().elapsed
        done = run([*MPIRUN, "-n", n, *rank])
        seconds = os.times().elapsed - started
        memory = re.search(r"at most ([\d,]+) MB", done.stderr)
        groups = json.loads((folder / f"{n}.json").read_text())["input"]["groups"]
        print(f"| {n} | {groups:,} | {memory.group(1) if memory else '?'} MB | {seconds:.1f} |")


if __name__ == "__main__":
    main()
