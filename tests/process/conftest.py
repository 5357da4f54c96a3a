"""Whole programs under load and faults. The helper modules beside this file (`process_*.py`) may be imported.

    VIVERO_SEED=1 python -m pytest -m process tests/process -s

repeats a run, as far as what is random in it is chosen by the test.
"""

from random import Random

import pytest

from tests.process.load import deploy
from tests.process.postgres_server import Server
from tests.process.program import Program
from tests.process.rows import end_sessions
from vivero import embedded

UNSAFE = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true"}
"""The session's server has fsync off. No fault here is a crash of the machine, which alone could make a difference."""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/process/"):
            item.add_marker(pytest.mark.process)


@pytest.fixture
def random_faults(seed):
    """A random generator whose seed is printed."""
    return Random(seed)


@pytest.fixture(autouse=True)
def ended_sessions():
    """The questions of a test end with it."""
    yield
    end_sessions()


@pytest.fixture
def make_program(request, tmp_path):
    """Makes programs that are not started yet; whatever still runs at the end is killed.

    The database of the test comes first, for it must not be emptied while a program still writes to it.
    """
    if "database" in request.fixturenames:
        request.getfixturevalue("database")
    made = []

    def make(*arguments, name="vivero", environment=None):
        program = Program(tmp_path, f"{name}-{len(made)}", arguments, environment or {})
        made.append(program)
        return program

    yield make
    for program in made:
        program.end()
        print(f"--- {program.name}", program.said(), sep="\n")


@pytest.fixture
def program(make_program, database):
    """A program on the test's own database, not started yet."""
    program = make_program("--database-url", database, environment=UNSAFE)
    yield program
    program.end()  # before its database goes


@pytest.fixture
def root(reachable_directory):
    """A data root of the test's own, with a server that keeps what it is told."""
    root = reachable_directory() / "root"
    yield root
    print("--- supervisor.log", (root / "supervisor.log").read_text()[-3000:], sep="\n")
    embedded.wait_stopped(root)


@pytest.fixture
def program_with_own_server(root, make_program):
    """A program and the PostgreSQL that it starts."""
    program = make_program("--data-dir", str(root))
    yield program
    program.end()


@pytest.fixture
def server(root):
    """The PostgreSQL of `root`, to be hurt."""
    return Server(root)


@pytest.fixture
async def pair(make_program, database, unsafe):
    """Two programs that run; whose database this is."""
    programs = [make_program("--database-url", database, environment=unsafe, name=name) for name in ("a", "b")]
    for program in programs:
        program.start()  # both at once: one of them migrates
    for program in programs:
        await program.ready()
    await deploy(programs[0].port, "one_task.bpmn")
    yield programs
    for program in programs:
        program.end()


@pytest.fixture
def unsafe():
    """The environment of a program on the session's server."""
    return UNSAFE


@pytest.fixture(autouse=True)
def always(new_sessions):
    """Programs begin and end their own sessions: so do these tests."""
