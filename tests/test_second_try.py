"""A test with PostgreSQL, tasks or whole programs may be tried three times, any other one once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = "pytest_trio.plugin", "pytest_rerunfailures"
ALONE = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(PLUGINS)}
"""Without the other plugins that are installed, whose imports take longer than these tests."""
TESTS = """
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def fails(name, seed, times):
    tried = HERE / name
    tries = tried.read_text().split() if tried.exists() else []
    tried.write_text(" ".join([*tries, str(seed)]))
    assert set(tries) <= {str(seed)}
    assert len(tries) >= times, f"try {len(tries) + 1} of {name}"


@pytest.fixture
def postgres_dsn():
    return "no server is needed here"


@pytest.mark.process
def test_program(seed):
    fails("program", seed, 2)


def test_postgres(seed, postgres_dsn):
    fails("postgres", seed, 1)


async def test_tasks(seed):
    fails("tasks", seed, 1)


def test_late(seed, postgres_dsn):
    fails("late", seed, 3)


def test_random(seed):
    fails("random", seed, 1)
"""


@pytest.fixture
def session(tmp_path):
    """Runs these tests in a session of their own: its exit code and output."""
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = process\ntrio_mode = true\n")

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=ALONE, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def test_who_works_against_deadlines_is_tried_again_with_its_seed_and_that_is_told(session):
    code, told = session("--second-try", "-p", "no:xdist", "--forks", "1")
    assert code == 1
    assert "2 failed, 3 passed, 6 rerun" in told
    assert "FAILED test_it.py::test_random" in told
    assert "FAILED test_it.py::test_late" in told
    assert "failed try of test_it.py::test_program" in told
    assert "AssertionError: try 2 of program" in told
    assert told.count("VIVERO_SEED=") >= 2, "of the session, and of each failure"


@pytest.mark.long
def test_by_itself_nothing_is_tried_twice(session):
    code, told = session()
    assert code == 1
    assert "5 failed" in told
