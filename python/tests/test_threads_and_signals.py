"""Commands release the interpreter lock, Ctrl-C interrupts them, and the reference is current."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import hodgerank

ROOT = Path(__file__).resolve().parents[2]


def test_interpreter_lock_is_released():
    votes = hodgerank.simulate(items=100, votes=100_000, flips=0.1, noise="bradley-terry").to_arrow()
    counted, done = 0, threading.Event()

    def work():
        hodgerank.diagnose(votes)
        done.set()

    thread = threading.Thread(target=work)
    started = time.perf_counter()
    thread.start()
    longest = 0.0
    while not done.is_set():
        before = time.perf_counter()
        time.sleep(0.001)
        longest = max(longest, time.perf_counter() - before)
        counted += 1
    thread.join()
    assert counted > 20 and longest < max(0.5, 0.5 * (time.perf_counter() - started))


def test_interrupt():
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import hodgerank
votes = hodgerank.simulate(items=3000, votes=3_000_000, flips=0.2, noise="bradley-terry").to_arrow()
print("ready", flush=True)
try:
    hodgerank.compare(votes)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdout.flush()
    import os
    os._exit(0)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    asked = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.perf_counter() - asked < 2.0
    assert process.wait(timeout=20) == 0


def test_interrupt_leaves_no_file(tmp_path):
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import hodgerank
votes = hodgerank.simulate(items=3000, votes=3_000_000, flips=0.2, noise="bradley-terry").to_arrow()
print("ready", flush=True)
hodgerank.report(votes, output="report.html")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    deadline = time.perf_counter() + 20
    while not list(tmp_path.iterdir()):
        assert process.poll() is None and time.perf_counter() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) != 0
    assert list(tmp_path.iterdir()) == []


def test_reference_is_current():
    script = ROOT / "scripts" / "python-docs"
    subprocess.run([sys.executable, script, "--check"], check=True)
