#!/usr/bin/env python3
"""Benchmarks hodgerank-mpi with one and several processes, and hodgerank with threads.

    benches/mpi.py [--items N] [--votes N] [--rounds N] [--processes 1,2,4]

Time: a step of Algorithm 4 on votes that are not merged, with one thread per process; then the same in one
process with as many threads. Memory: the peak memory of the processes of `hodgerank-mpi rank`, which read
one Parquet file. Programs run in turns; times are medians over all rounds.
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
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--quick", action="store_true", help="a million votes, and one round")
    given = parser.parse_args()
    if given.quick:
        given.votes, given.rounds = min(given.votes, 1_000_000), 1
    counts = [int(number) for number in given.processes.split(",")]
    cores = os.cpu_count()

    # The whole workspace, as in scripts/bench, so that features are the same and nothing is compiled twice.
    build = ["cargo", "build", "--release", "--quiet", "--workspace", "--bin", "hodgerank"]
    run([*build, "--bin", "hodgerank-mpi", "--example", "scaling"])
    size = ["--items", given.items, "--votes", given.votes]
    example = TARGET / "examples" / "scaling"
    commands = {f"{n} processes": [*MPIRUN, "-n", n, example, *size] for n in counts}
    for threads in sorted({1, cores}):
        commands[f"{threads} threads"] = [example, *size, "--without-mpi", "--threads", threads]
    results = {name: [] for name in commands}
    for _ in range(given.rounds):
        for name, command in commands.items():
            results[name].append(json.loads(run(command).stdout))

    steps = {
        name: statistics.median(s for line in lines for s in line["seconds_per_step"])
        for name, lines in results.items()
    }
    first = steps[f"{counts[0]} processes"]
    print(f"\n{given.votes:,} votes, not merged, {given.items:,} items, {cores} cores\n")
    print("| | time per step | speed-up | ns per vote and step | peak memory per process |")
    print("|---|---|---|---|---|")
    for name, seconds in steps.items():
        memory = max(line["bytes"] for line in results[name]) / 1e6
        per_vote = 1e9 * seconds / given.votes
        print(f"| {name} | {1e3 * seconds:.2f} ms | {first / seconds:.2f} | {per_vote:.2f} | {memory:.0f} MB |")
    both = f"{cores} processes", f"{cores} threads"
    if all(name in steps for name in both):
        print(f"\n{cores} processes take {steps[both[0]] / steps[both[1]]:.2f} times as long as {cores} threads.")

    print("\n| numbers summed | " + " | ".join(f"{n} processes" for n in counts if n > 1) + " |")
    print("|---|" + "---|" * sum(n > 1 for n in counts))
    lines = {n: results[f"{n} processes"] for n in counts if n > 1}
    for k, (length, _) in enumerate(results[f"{counts[0]} processes"][0]["sums"]):
        cells = [statistics.median(line["sums"][k][1] for line in lines[n]) for n in lines]
        print(f"| {length:,} | " + " | ".join(f"{1e6 * cell:.0f} µs" for cell in cells) + " |")

    with tempfile.TemporaryDirectory() as folder:
        peak_memory(Path(folder), counts, given.votes)


def peak_memory(folder, counts, number):
    """Peak memory of the program on many distinct votes: `number` votes on 20,000 items."""
    votes = folder / "votes.parquet"
    study = ["simulate", "--items", 20_000, "--votes", number, "--seed", 1, "--quiet"]
    run([TARGET / "hodgerank", *study, "--output", votes])
    print("\n| processes | distinct votes | peak memory per process | seconds |")
    print("|---|---|---|---|")
    for n in counts:
        rank = [TARGET / "hodgerank-mpi", "rank", votes, "--method", "lbi", "--outliers", "5%"]
        rank += ["--format", "json", "--output", folder / f"{n}.json"]
        started = os.times().elapsed
        done = run([*MPIRUN, "-n", n, *rank])
        seconds = os.times().elapsed - started
        memory = re.search(r"peak memory .*?([\d,]+) MB", done.stderr)
        groups = json.loads((folder / f"{n}.json").read_text())["input"]["groups"]
        print(f"| {n} | {groups:,} | {memory.group(1) if memory else '?'} MB | {seconds:.1f} |")


if __name__ == "__main__":
    main()
