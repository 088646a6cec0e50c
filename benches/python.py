#!/usr/bin/env python3
"""Compares the Python package with evalica and choix on the same votes.

    .venv-bench/bin/python benches/python.py [--votes N] [--items N] [--rounds N]

`hodgerank.rank` gets a pandas table of votes with text labels and ranks robustly: once with a given share
of votes to flag, once with `auto`, the default, which estimates it. evalica gets lists of labels and
outcomes, which its interface requires, and computes Bradley-Terry scores. choix, which is written in
Python, gets indices and only as many votes as it can process in reasonable time. The programs take turns;
seconds are medians. The time to create the lists is not counted for evalica and choix; the time to convert
the table to Arrow is counted for hodgerank.
"""

import argparse
import statistics
import sys

import choix
import evalica
import numpy as np
import pandas

import hodgerank
from hodgerank._votes import as_votes
from timing import in_turns, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--choix-votes", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="two rounds, and fewer votes for choix")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.choix_votes = 2, 20_000

    study = hodgerank.simulate(
        items=given.items, votes=given.votes, noise="bradley-terry", flips=0.1, seed=1
    )
    # The same type of column as pandas creates when it reads a CSV file.
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
    tasks = {
        "auto": lambda: hodgerank.rank(table),
        "share": lambda: hodgerank.rank(table, outliers="5%"),
        "arrow": lambda: as_votes(table),
        "core": lambda: hodgerank.rank(votes, outliers="5%"),
        "l2": lambda: hodgerank.rank(table, method="l2"),
        "evalica": lambda: evalica.bradley_terry(left, right, winners),
    }
    times, answers = in_turns(tasks, given.rounds)
    ranking, peer = answers["auto"], answers["evalica"]
    times["choix"] = [seconds(lambda: choix.ilsr_pairwise(given.items, pairs, alpha=0.01))[0]]

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
    print("\n| task | seconds | fastest–slowest |\n|---|---:|---|")
    for name, text in [
        ("auto", "`hodgerank.rank(table)`, robust, number of flagged votes estimated"),
        ("share", '`hodgerank.rank(table, outliers="5%")`, robust'),
        ("arrow", "of which pandas to Arrow"),
        ("core", "the same, from votes converted before"),
        ("l2", '`hodgerank.rank(table, method="l2")`'),
        ("evalica", f"`evalica.bradley_terry`, not robust, lists ({evalica.__version__})"),
        ("choix", f"`choix.ilsr_pairwise`, not robust, {given.choix_votes:,} votes"),
    ]:
        values = times[name]
        print(f"| {text} | {median[name]:.3f} | {min(values):.3f}–{max(values):.3f} |")
    print()
    for name, text in [("share", 'with outliers="5%"'), ("auto", "with the default rule, auto")]:
        ratio = median["evalica"] / median[name]
        verdict = "met" if ratio >= 5 else "MISSED"
        fastest = min(times["evalica"]) / min(times[name])
        print(
            f"- robust {text}: evalica takes {ratio:.1f} times as long ({fastest:.1f} by the fastest "
            f"rounds); target: at least 5: {verdict}"
        )
    share = median["arrow"] / median["core"]
    verdict = "met" if share <= 0.3 else "MISSED"
    print(f"- conversion adds {100 * share:.0f}% to the time of the core; target: at most 30%: {verdict}")
    print(f"- rank correlation with evalica: {agreement:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
