"""What the tests share: the program, the shared data, a study with bad annotators."""

import os
import subprocess
from pathlib import Path

import pytest

import hodgerank

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the command line and gives what it writes to standard output and error."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = Path(os.environ.get("HODGERANK_BIN", target / "release/hodgerank"))
    assert binary.exists(), f"{binary} is missing: cargo build --release"

    def run(*arguments):
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@pytest.fixture(scope="session")
def data():
    """The shared data."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.exists():
        pytest.skip("the shared data are not here")
    return folder


@pytest.fixture(scope="session")
def study():
    """Votes with careless and malicious annotators."""
    return hodgerank.simulate(
        items=12,
        votes=3000,
        ties=0.05,
        noise="bradley-terry",
        annotators={"careful": 24, "careless": 3, "malicious": 2, "always-left": 1},
        seed=11,
        mark_bad=True,
    )
