#!/usr/bin/env python3
"""Compares `crowd`, which models each annotator, with other methods and programs on the same votes.

    .venv-bench/bin/python benches/crowd.py --crowd-kit PYTHON [--votes N] [--items N] [--annotators N]

1. From a CSV file with the command line: `--method crowd` and `--method l2`.
2. From a pandas table with text labels: evalica gets lists, which its interface requires, and computes plain
   Bradley-Terry scores: it knows no annotators. PYTHON is an interpreter with crowd-kit, whose
   NoisyBradleyTerry models the skill and bias of each worker. It computes its gradient in a Python loop, so
   it gets fewer votes; the time of each call is proportional to their number.

The programs take turns; seconds are medians, those of crowd-kit are from one run. Kendall's tau is that with
the true scores.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import evalica
import pandas

import hodgerank
from ingest import DATA, TARGET, median_seconds, peak, run_child, simulate, spread, verdict
from timing import in_turns

# The targets: crowd from CSV in at most so many times the time of l2, and so much memory; evalica takes at
# least so many times the time of crowd.
MAX_RATIO = 3.0
MAX_MEGABYTES = 600
MIN_PEER_RATIO = 3.0

PEER = Path(__file__).with_name("crowd_kit.py")


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
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv-votes", type=int, default=10_000_000, help="0 leaves this part out")
    parser.add_argument("--crowd-kit-votes", type=int, default=20_000)
    parser.add_argument("--crowd-kit-iterations", type=int, default=100, help="its default is 100")
    parser.add_argument("--quick", action="store_true", help="a million votes from CSV, and fewer rounds")
    given = parser.parse_args()
    if given.quick:
        given.csv_votes, given.rounds = min(given.csv_votes, 1_000_000), 2
        given.crowd_kit_iterations = 20
    warnings.simplefilter("ignore", hodgerank.HodgerankWarning)

    # First, because the peak memory of a child process includes that of its parent when it starts.
    if given.csv_votes > 0:
        from_csv(given.csv_votes, given.rounds)
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
    tasks = {
        "crowd": lambda: rank(table),
        "evalica": lambda: evalica.bradley_terry(left, right, winners).scores,
        "part": lambda: rank(part),
    }
    times, scores = in_turns(tasks, given.rounds)
    median = {name: statistics.median(values) for name, values in times.items()}
    median["crowd-kit"], scores["crowd-kit"] = run_crowd_kit(
        given.crowd_kit, workers, given.crowd_kit_iterations
    )

    print(f"{given.votes:,} votes by {given.annotators:,} annotators on {given.items:,} items")
    print("\n| task | votes | seconds | tau with the truth |\n|---|---:|---:|---:|")
    for name, text, votes in [
        ("crowd", '`hodgerank.rank(table, method="crowd")`', given.votes),
        ("evalica", f"`evalica.bradley_terry`, lists ({evalica.__version__})", given.votes),
        ("part", '`hodgerank.rank(table, method="crowd")`', len(part)),
        ("crowd-kit", "`NoisyBradleyTerry` of crowd-kit", len(part)),
    ]:
        print(f"| {text} | {votes:,} | {median[name]:.3f} | {tau(scores[name]):.3f} |")
    ratio = median["evalica"] / median["crowd"]
    fastest = min(times["evalica"]) / min(times["crowd"])
    print(
        f"\n- evalica takes {ratio:.2f} times as long as crowd ({fastest:.2f} by the fastest rounds); "
        f"target: at least {MIN_PEER_RATIO:.0f}: {verdict(ratio >= MIN_PEER_RATIO)}"
    )
    ratio = median["crowd-kit"] / median["part"]
    print(f"- crowd-kit takes {ratio:.0f} times as long as crowd, on {len(part):,} votes")
    return 0


def from_csv(votes, rounds):
    """Prints time and memory of the command line with and without a model of the annotators."""
    program, file = TARGET / "release" / "hodgerank", DATA / f"crowd-{votes}.csv"
    if not file.exists():
        people = "careful=8000,careless=700,malicious=600,always-left=700"
        simulate(
            program, file, "--items", 1000, "--votes", votes, "--annotators", people,
            "--noise", "bradley-terry", "--seed", 1,
        )  # fmt: skip
    runs = {"l2": [], "crowd": []}
    for _ in range(rounds):
        for method, own in runs.items():
            # Without intervals, for which l2 would keep the annotators too.
            command = [program, "rank", file, "--method", method, "--intervals", "none"]
            own.append(run_child([*command, "--format", "csv", "--quiet"])[0])
    print(f"{votes:,} votes by 10,000 annotators on 1,000 items, CSV of {file.stat().st_size / 1e6:.0f} MB")
    print("\n| method | seconds | MB |\n|---|---:|---:|")
    for method, own in runs.items():
        print(f"| `{method}` | {spread(own)} | {peak(own):.0f} |")
    ratio = median_seconds(runs["crowd"]) / median_seconds(runs["l2"])
    memory = peak(runs["crowd"])
    print(
        f"\n- crowd takes {ratio:.2f} times as long as l2; target: at most {MAX_RATIO:.0f}: "
        f"{verdict(ratio <= MAX_RATIO)}; at most {MAX_MEGABYTES} MB: {verdict(memory <= MAX_MEGABYTES)}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
