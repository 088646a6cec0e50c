"""Times functions in turns, for the benchmarks of the Python package."""

import gc
import time


def seconds(task):
    """Times a call without garbage collection, as timeit does: a collection would scan long lists."""
    gc.collect()
    gc.disable()
    started = time.perf_counter()
    result = task()
    took = time.perf_counter() - started
    gc.enable()
    return took, result


def in_turns(tasks, rounds):
    """Runs every task once in each round; returns the times and the last result of each.

    Each round starts with a different task: one that runs after another program finds a cold cache.
    """
    times = {name: [] for name in tasks}
    results = {}
    for turn in range(rounds):
        names = [*tasks]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            took, results[name] = seconds(tasks[name])
            times[name].append(took)
    return times, results
