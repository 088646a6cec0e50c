#!/usr/bin/env python3
"""Robust ranking from Python beside evalica and choix, on the same votes, in turns.

    .venv-bench/bin/python benches/python.py [--votes N] [--items N] [--rounds N]

A pandas table of votes with text labels goes to `hodgerank.rank`, which ranks robustly: with a share
of votes to flag, and with `auto`, its default, which reads it off the votes. evalica gets what its
interface takes, the columns as lists of labels and outcomes, and computes Bradley-Terry scores;
choix, written in Python, gets indices and as many votes as it can take in reasonable time. Seconds are
medians; making the lists is not counted for the peers, making Arrow of the table is counted for us.
"""

import argparse
import gc
import statistics
import sys
import time

import choix
import evalica
import numpy as np
import pandas

import hodgerank
from hodgerank._votes import as_votes


def seconds(work):
    """As timeit does, without the garbage collector, which would walk through the peers' lists."""
    gc.collect()
    gc.disable()
    started = time.perf_counter()
    result = work()
    took = time.perf_counter() - started
    gc.enable()
    return took, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--choix-votes", type=int, default=100_000)
    given = parser.parse_args()

    study = hodgerank.simulate(
        items=given.items, votes=given.votes, noise="bradley-terry", flips=0.1, seed=1
    )
    # Labels as pandas holds them when a CSV file was read.
    table = study.to_pandas().astype("str")
    words = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    left, right = table["left"].tolist(), table["right"].tolist()
    winners = [words[word] for word in table["winner"]]
    place = {item: k for k, item in enumerate(study.items)}
    pairs = [
        (place[a], place[b]) if w == "left" else (place[b], place[a])
        for a, b, w in zip(left[: given.choix_votes], right, table["winner"])
    ]

    votes = as_votes(table)
    works = {
        "auto": lambda: hodgerank.rank(table),
        "share": lambda: hodgerank.rank(table, outliers="5%"),
        "arrow": lambda: as_votes(table),
        "core": lambda: hodgerank.rank(votes, outliers="5%"),
        "l2": lambda: hodgerank.rank(table, method="l2"),
        "evalica": lambda: evalica.bradley_terry(left, right, winners),
    }
    times = {name: [] for name in [*works, "choix"]}
    answers = {}
    for turn in range(given.rounds):
        # Each round begins with another one: who comes after a peer finds the caches full of its lists.
        order = [*works][turn % len(works) :] + [*works][: turn % len(works)]
        for name in order:
            took, answers[name] = seconds(works[name])
            times[name].append(took)
    ranking, peer = answers["auto"], answers["evalica"]
    times["choix"].append(seconds(lambda: choix.ilsr_pairwise(given.items, pairs, alpha=0.01))[0])

    median = {name: statistics.median(values) for name, values in times.items()}
    ours = dict(zip(ranking.items, ranking.scores))
    theirs = peer.scores
    common = [item for item in theirs.index if item in ours]
    agreement = np.corrcoef(
        pandas.Series(ours)[common].rank(), pandas.Series(theirs)[common].rank()
    )[0, 1]

    print(
        f"{given.votes:,} votes on {given.items:,} items, pandas {pandas.__version__} with text "
        f"labels; hodgerank: {ranking!r}"
    )
    print("\n| work | seconds | fastest–slowest |\n|---|---:|---|")
    for name, text in [
        ("auto", "`hodgerank.rank(table)`, robust, how many to flag read off the votes"),
        ("share", '`hodgerank.rank(table, outliers="5%")`, robust'),
        ("arrow", "of this, pandas to Arrow"),
        ("core", "the same of votes handed over before"),
        ("l2", '`hodgerank.rank(table, method="l2")`'),
        ("evalica", f"`evalica.bradley_terry`, plain scores, lists ({evalica.__version__})"),
        ("choix", f"`choix.ilsr_pairwise`, plain scores, {given.choix_votes:,} votes"),
    ]:
        values = times[name]
        print(f"| {text} | {median[name]:.3f} | {min(values):.3f}–{max(values):.3f} |")
    print()
    for name, text in [("share", 'with outliers="5%"'), ("auto", "with the default rule, auto")]:
        ratio = median["evalica"] / median[name]
        verdict = "holds" if ratio >= 5 else "missed"
        fastest = min(times["evalica"]) / min(times[name])
        print(
            f"- robust {text}: evalica takes {ratio:.1f} times as long ({fastest:.1f} by the fastest "
            f"rounds); wanted: 5: {verdict}"
        )
    share = median["arrow"] / median["core"]
    print(f"- conversion adds {100 * share:.0f}% to the core; at most 30%: {'holds' if share <= 0.3 else 'missed'}")
    print(f"- correlation of ranks with evalica's: {agreement:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
