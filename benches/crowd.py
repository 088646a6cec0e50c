#!/usr/bin/env python3
"""Compares `crowd`, which models each annotator, with evalica and crowd-kit on the same votes.

    .venv-bench/bin/python benches/crowd.py --crowd-kit PYTHON [--votes N] [--items N] [--annotators N]

PYTHON is an interpreter with crowd-kit. `hodgerank.rank` gets a pandas table with text labels. evalica gets
lists, which its interface requires, and computes plain Bradley-Terry scores: it knows no annotators.
crowd-kit's NoisyBradleyTerry models the skill and bias of each worker; it gets a pandas table too. It computes
its gradient in a Python loop, so it gets fewer votes; the time of each call is proportional to their number.
Seconds are medians; those of crowd-kit are from one run. Kendall's tau is that with the true scores.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import evalica
import pandas

import hodgerank

PEER = Path(__file__).with_name("crowd_kit.py")


def seconds(task, rounds):
    """Returns the median time of a call, and its last result."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        result = task()
        times.append(time.perf_counter() - started)
    return statistics.median(times), result


def run_crowd_kit(python, table, iterations):
    """Returns seconds, iterations and scores of NoisyBradleyTerry, run by another interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder, "votes.parquet")
        table.to_parquet(votes)
        arguments = [python, PEER, votes, str(iterations)]
        done = subprocess.run(arguments, capture_output=True, check=True, text=True)
    found = json.loads(done.stdout)
    return found["seconds"], pandas.Series(found["scores"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowd-kit", required=True, help="a Python interpreter with crowd-kit")
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--annotators", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--crowd-kit-votes", type=int, default=20_000)
    parser.add_argument("--crowd-kit-iterations", type=int, default=100, help="its default is 100")
    given = parser.parse_args()
    warnings.simplefilter("ignore", hodgerank.HodgerankWarning)

    bad = given.annotators // 20
    kinds = {"careful": given.annotators - 4 * bad, "careless": 2 * bad, "malicious": bad}
    study = hodgerank.simulate(
        items=given.items,
        votes=given.votes,
        noise="bradley-terry",
        annotators={**kinds, "always-left": bad},
        seed=1,
    )
    table = study.to_pandas().astype("str")
    truth = pandas.Series(study.truth)
    words = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    left, right = table["left"].tolist(), table["right"].tolist()
    winners = [words[word] for word in table["winner"]]

    def tau(scores):
        return scores.corr(truth[scores.index], method="kendall")

    def rank(votes):
        ranking = hodgerank.rank(votes, method="crowd")
        return pandas.Series(ranking.scores, index=ranking.items)

    part = table.head(given.crowd_kit_votes)
    labels = part["left"].where(part["winner"] == "left", part["right"])
    workers = pandas.DataFrame(
        {"worker": part["annotator"], "left": part["left"], "right": part["right"], "label": labels}
    )
    crowd = seconds(lambda: rank(table), given.rounds)
    plain = seconds(lambda: evalica.bradley_terry(left, right, winners).scores, given.rounds)
    crowd_part = seconds(lambda: rank(part), given.rounds)
    peer = run_crowd_kit(given.crowd_kit, workers, given.crowd_kit_iterations)

    print(f"{given.votes:,} votes by {given.annotators:,} annotators on {given.items:,} items")
    print("\n| task | votes | seconds | tau with the truth |\n|---|---:|---:|---:|")
    for text, votes, (took, scores) in [
        ('`hodgerank.rank(table, method="crowd")`', given.votes, crowd),
        (f"`evalica.bradley_terry`, lists ({evalica.__version__})", given.votes, plain),
        ('`hodgerank.rank(table, method="crowd")`', len(part), crowd_part),
        ("`NoisyBradleyTerry` of crowd-kit", len(part), peer),
    ]:
        print(f"| {text} | {votes:,} | {took:.3f} | {tau(scores):.3f} |")
    print()
    print(f"- evalica takes {plain[0] / crowd[0]:.2f} times as long as crowd, on all votes")
    print(f"- crowd-kit takes {peer[0] / crowd_part[0]:.0f} times as long as crowd, on {len(part):,} votes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
