"""A test of whole programs may be tried twice; any other one, a random one above all, that fails has failed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def fails_once(name, seed):
    tried = HERE / name
    if not tried.exists():
        tried.write_text(str(seed))
        raise AssertionError(f"the first try of {name}")
    assert tried.read_text() == str(seed)


@pytest.mark.process
def test_program(seed):
    fails_once("program", seed)


def test_random(seed):
    fails_once("random", seed)
"""


@pytest.fixture
def session(tmp_path):
    """Runs these tests in a session of their own: its exit code and output."""
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = process\n")

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def test_only_a_test_of_programs_is_tried_twice_with_its_seed_and_that_is_told(session):
    code, told = session("--second-try")
    assert code == 1
    assert "1 failed, 1 passed, 1 rerun" in told
    assert "FAILED test_it.py::test_random" in told
    assert "first try of test_it.py::test_program" in told
    assert "AssertionError: the first try of program" in told
    assert told.count("VIVERO_SEED=") >= 2, "of the session, and of each failure"


def test_by_itself_nothing_is_tried_twice(session):
    code, told = session()
    assert code == 1
    assert "2 failed" in told
