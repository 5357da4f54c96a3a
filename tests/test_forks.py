"""Tests divided among forks: all run once, in forks that keep their fixtures, and none that is lost is missed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forks

ALONE = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Without plugins that these sessions do not use: their imports take longer than the tests."""
FIXTURES = """
import os
from pathlib import Path

import pytest

from tests import forks

HERE = Path(__file__).parent
BEGAN_IN = os.getpid()


def write(kind, *more):
    with open(HERE / "log", "a") as log:
        log.write(" ".join([kind, str(forks.number()), *more]) + "\\n")


@pytest.fixture(scope="session")
def whole():
    write("begin", str(os.getpid() != BEGAN_IN))
    yield
    write("end")


@pytest.fixture(scope="module", autouse=True)
def module(whole, request):
    write("module", request.module.__name__)
    yield
    write("module-end", request.module.__name__)
"""
MANY = """
import os
import warnings

import pytest


@pytest.mark.parametrize("number", range(3))
def test_passes(number):
    print("nobody reads this")


def test_fails():
    print("it says so")
    assert [1] == [2]


def test_breaks(broken):
    pass


@pytest.fixture
def broken():
    yield
    raise ValueError("in its end")


@pytest.mark.skip(reason="because")
def test_is_skipped():
    pass


def test_warns():
    warnings.warn("beware", stacklevel=1)
"""
LOST = """
import os
import signal


def test_before():
    pass


def test_is_lost():
    os.kill(os.getpid(), signal.SIGKILL)


def test_after():
    pass
"""
FEW = "def test_one(): pass\n"


@pytest.fixture
def session(tmp_path):
    """Runs files of tests in a session of its own: its exit code, its output, and what their fixtures logged."""
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = process\n")

    def run(files, *arguments):
        inner = tmp_path / "inner"
        inner.mkdir()
        (inner / "conftest.py").write_text(FIXTURES)
        for name, text in files.items():
            (inner / f"test_{name}.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=ALONE, capture_output=True, text=True, check=False)
        log = inner / "log"
        return done.returncode, done.stdout, log.read_text().splitlines() if log.exists() else []

    return run


def test_each_test_runs_once_and_is_reported(session):
    code, told, log = session({"many": MANY, "few": FEW, "other": FEW, "third": FEW}, "--forks", "2", "-rA")
    assert code == 1
    assert "1 failed, 8 passed, 1 skipped, 1 warning, 1 error" in told
    assert "it says so" in told
    assert "assert [1] == [2]" in told
    assert "ValueError: in its end" in told
    assert re.search(r"test_warns\n.*UserWarning: beware", told)
    assert sorted(line for line in log if line.startswith(("begin", "end"))) == [
        "begin 0 True",
        "begin 1 True",
        "end 0",
        "end 1",
    ]
    modules = [line.split()[2] for line in log if line.startswith("module ")]
    assert sorted(modules) == ["test_few", "test_many", "test_other", "test_third"]
    assert len([line for line in log if line.startswith("module-end")]) == len(modules)


@pytest.mark.long
def test_a_test_whose_fork_ends_has_failed_and_the_others_run(session):
    code, told, log = session({"lost": LOST, "few": FEW}, "--forks", "2", "-v")
    assert code == 1
    assert "1 failed, 3 passed" in told
    assert "the process was ended by signal 9 during this test" in told
    assert "test_lost.py::test_after PASSED" in told
    assert [line.split()[2] for line in log if line.startswith("module ")].count("test_lost") == 2


@pytest.mark.long
def test_a_test_that_hangs_has_failed_and_the_others_run(session):
    hangs = "import signal\n\n\ndef test_hangs():\n    signal.pause()\n\n\ndef test_after():\n    pass\n"
    code, told, _ = session({"hangs": hangs}, "--forks", "1", "--hangs-after", "2")
    assert code == 1
    assert "1 failed, 1 passed" in told
    assert "the process was ended by signal 9 during this test" in told


@pytest.mark.long
def test_a_failure_ends_all_forks_and_their_fixtures_if_it_shall(session):
    endless = FEW + "\n\ndef test_next():\n    pass\n" * 50
    code, told, log = session({"fails": "def test_fails():\n    assert not 1\n", "long": endless}, "--forks", "1", "-x")
    assert code == 1
    assert "1 failed" in told
    assert "stopping after 1 failures" in told
    assert [line.split()[0] for line in log if "module" not in line] == ["begin", "end"]


@pytest.mark.parametrize("count", [0, 33])
def test_a_number_of_forks_that_makes_no_sense_is_refused(request, count):
    with pytest.raises(pytest.UsageError, match=f"--forks {count}: the number of forks is from 1 to 32"):
        forks.run(request.session, count)
