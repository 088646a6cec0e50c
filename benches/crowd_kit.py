#!/usr/bin/env python3
"""Runs crowd-kit's NoisyBradleyTerry on votes from a Parquet file, for benches/crowd.py.

    PYTHON benches/crowd_kit.py VOTES ITERATIONS

VOTES has the columns worker, left, right and label. Prints the seconds and the scores as JSON. The time to
read the file is not counted.
"""

import json
import sys
import time

import pandas
from crowdkit.aggregation import NoisyBradleyTerry


def main():
    votes, iterations = pandas.read_parquet(sys.argv[1]), int(sys.argv[2])
    started = time.perf_counter()
    scores = NoisyBradleyTerry(n_iter=iterations).fit_predict(votes)
    took = time.perf_counter() - started
    print(json.dumps({"seconds": took, "scores": scores.to_dict()}))


if __name__ == "__main__":
    main()
