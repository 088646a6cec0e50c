"""The program that ``pip install`` brings along behaves as the binary."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "hodgerank"
WAYS = {"script": [str(SCRIPT)], "module": [sys.executable, "-m", "hodgerank"]}


def run(way, *arguments, **options):
    done = subprocess.run([*WAYS[way], *map(str, arguments)], capture_output=True, check=False, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["rank", "--help"],
        ["rank", "annotators.csv", "--format", "json"],
        ["rank", "annotators.csv"],
        ["rank", "missing.csv"],
        ["rank", "components.csv", "--require-connected"],
        ["rnk"],
        ["rank"],
    ],
)
def test_same_as_the_binary(program, testdata, monkeypatch, way, arguments):
    monkeypatch.chdir(testdata)
    assert run(way, *arguments) == program(*arguments)


@pytest.mark.parametrize("way", WAYS)
def test_closed_pipe(testdata, way):
    process = subprocess.Popen(
        [*WAYS[way], "path", str(testdata / "annotators.csv"), "--format", "csv", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().startswith(b"knot,")
    process.stdout.close()
    assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing_behind(tmp_path, way, number):
    """The program waits for the rest of its input with its output open."""
    output = tmp_path / "ranking.csv"
    output.write_text("old")
    process = subprocess.Popen(
        [*WAYS[way], "rank", "-", "-o", str(output)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Programs inherit ignored signals: SIGHUP is, if the tests were started with nohup.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 2:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=60) == -number
    assert os.listdir(tmp_path) == ["ranking.csv"] and output.read_text() == "old"


@pytest.mark.parametrize("way", WAYS)
def test_interrupt_without_outputs(way):
    process = subprocess.Popen(
        [*WAYS[way], "rank", "-"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == -signal.SIGINT
