"""Fixtures: the program, the studies of testdata and published ones, a study with bad annotators."""

import os
import subprocess
from pathlib import Path

import pytest

import hodgerank

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the program; returns its exit code, standard output and standard error."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = Path(os.environ.get("HODGERANK_BIN", target / "release/hodgerank"))
    assert binary.exists(), f"{binary} is missing: cargo build --release"

    def run(*arguments):
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


def without_files(document):
    """A document without the names and hashes of files, which tables in memory do not have."""
    if isinstance(document, list):
        return [without_files(one) for one in document]
    rest = {key: value for key, value in document.items() if key != "input"}
    size = {key: value for key, value in document.get("input", {}).items() if key != "files"}
    return {**rest, "input": size} if size else rest


@pytest.fixture(scope="session")
def testdata():
    """The directory of the studies that are part of the repository."""
    return ROOT / "testdata"


@pytest.fixture(scope="session")
def published():
    """The directory of the published studies; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("HODGERANK_PUBLISHED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("needs the published studies (../shared/data)")
    return folder


@pytest.fixture(scope="session")
def study():
    """Votes of careful, careless, malicious and one-sided annotators."""
    return hodgerank.simulate(
        items=12,
        votes=3000,
        ties=0.05,
        noise="bradley-terry",
        annotators={"careful": 24, "careless": 3, "malicious": 2, "always-left": 1},
        seed=11,
        mark_bad=True,
    )


def pytest_runtest_logreport(report):
    """Appends skipped tests to the list that scripts/test shows at the end of its run."""
    listed = os.environ.get("HODGERANK_SKIPPED_TESTS")
    if listed and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}: {reason}\n")
