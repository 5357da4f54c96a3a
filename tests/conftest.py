"""For all tests: the seed of what is random; PostgreSQL, one embedded server per session, one empty database per test.

    VIVERO_SEED=4711 python -m pytest …

repeats what is random in a run. A seed is drawn for each session, and printed at its head and with each failure.

    python -m pytest --second-try …

tries a test with PostgreSQL, of tasks or of whole programs that failed up to twice more, with the same seed, and tells
in the end why each try failed. They work against deadlines, and on a busy machine one may be late. A test of the pure
core, a random one above all, that fails has failed.

    python -m pytest -m long --at-most 10 …

begins no test when ten minutes are over; each one left out is shown as skipped, with the reason. Files that the last
commits have changed come early; the seed chooses with which of them, and of the others, the run begins.
"""

import atexit
import gc
import logging
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any

import psutil
import psycopg
import pytest
import structlog
import trio
from psycopg import sql
from structlog._config import BoundLoggerLazyProxy

from tests import forks
from tests.core.parsed_models import read_anew
from tests.databases import Databases
from tests.replicas import Replica
from tests.reused_sessions import Reuse
from tests.turns import changed_lately, in_turn
from vivero import embedded
from vivero.storage.postgres import driver
from vivero.storage.schema import migrate

_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 2**31
"""Enough for the servers of a few workers; otherwise directories are made on disk, which is slower."""
LONGEST = ("console", "test_instance_trees.py", "test_oracle.py", "test_petri_net.py")
"""Files whose tests run for minutes in one process, and the folder that counts as one file."""
PROGRAMS_UNTIL = 0.7
"""The part of all other files among which those that start programs are spread."""
_STARTERS = {"vivero", "up", "shared_server", "start_program"}
"""Fixtures of tests/vivero that start programs."""
GC_THRESHOLDS = (20_000, 50, 100)
"""Collections are rare: with Python's own thresholds they take 8 % of the CPU of the core's tests, with these 6 %."""
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="vivero-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
"""Programs of tests say there which addresses they serve, and not where those of the developer or another session do.
The folder goes with this process. Forks use it, too, and end without removing it."""
_BEGAN_S = time.monotonic()
_SEED = int(os.environ.get("VIVERO_SEED") or SystemRandom().randrange(2**31))
_LOG: dict[str, Any] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--second-try", action="store_true", help="run tests that fail again, but those of pure functions")
    parser.addoption("--forks", type=int, metavar="COUNT", help="run whole files in so many forks (tests/forks.py)")
    parser.addoption(
        "--hangs-after", type=float, metavar="SECONDS", help="end forks whose test takes longer; it has failed then"
    )
    parser.addoption(
        "--at-most", type=float, metavar="MINUTES", help="begin no test later than that; those are skipped"
    )


def pytest_collection(session: pytest.Session) -> None:
    """Collected tests are never garbage: a search for garbage takes seconds of CPU in every process."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files come first. If there is no time for all, changed ones follow, and others by turns. Files that
    start programs wait more than they compute, so they run beside others, and end before them: short tests fill the
    processes in the end."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(forks.file_of(item.path), []).append(item)
    spread = {forks.file_of(file[0].path): file for file in _spread(list(files.values()))}
    order = list(spread)
    if config.getoption("--at-most") is not None:
        longest = [path for path in order if path.name in LONGEST]
        lately = changed_lately()
        changed = {forks.file_of(path) for path in lately}
        order = longest + in_turn([path for path in order if path not in longest], changed, _SEED)
        spread = {path: _files_in_turn(file, lately) for path, file in spread.items()}
    items[:] = [item for path in order for item in spread[path]]
    if config.getoption("--second-try"):
        for item in items:
            if tries := _more_tries(item):
                item.add_marker(pytest.mark.flaky(reruns=tries))


def _files_in_turn(items: list[pytest.Item], changed: set[Path]) -> list[pytest.Item]:
    """The tests of a folder that counts as one file: its files by turns, too."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return [item for path in in_turn(list(files), changed, _SEED) for item in files[path]]


def _spread(files: list[list[pytest.Item]]) -> list[list[pytest.Item]]:
    """The files in the order in which they begin."""
    longest = [file for file in files if forks.file_of(file[0].path).name in LONGEST]
    programs = [file for file in files if file not in longest and any(map(_starts_a_program, file))]
    others = [file for file in files if file not in longest and file not in programs]
    places = [(PROGRAMS_UNTIL * number / len(programs), 0, number) for number in range(len(programs))]
    places += [(number / len(others), 1, number) for number in range(len(others))]
    return [*longest, *((programs, others)[kind][number] for _, kind, number in sorted(places))]


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In forks, if they are wanted, there are tests, and all of these could be collected."""
    count, config = session.config.getoption("--forks"), session.config
    if count is None or config.option.collectonly or session.testsfailed or not session.items:
        return None
    return forks.run(session, count)


def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("--at-most")
    first_try = getattr(item, "execution_count", 1) == 1  # a test that failed is tried again, however late it is
    if first_try and minutes is not None and time.monotonic() - _BEGAN_S > minutes * 60:
        pytest.skip(f"not begun: the {minutes:g} minutes of --at-most are over")


def _more_tries(item: pytest.Item) -> int:
    """The number of tries after which a test has failed."""
    with_tasks = item.get_closest_marker("trio") is not None
    with_postgres = "postgres_dsn" in getattr(item, "fixturenames", ())
    return 2 if with_tasks or with_postgres or _starts_a_program(item) else 0


def _starts_a_program(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("process") is not None or not _STARTERS.isdisjoint(fixtures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for first in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"failed try of {first.nodeid}")
        terminalreporter.write_line(first.longreprtext)
        terminalreporter.write_line(first.capstdout)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The processes that tests are divided among have the seed of the session."""
    node.workerinput["seed"] = _SEED


def pytest_configure(config: pytest.Config) -> None:
    global _SEED, _LOG
    _SEED = getattr(config, "workerinput", {"seed": _SEED})["seed"]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job in the background; programs would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The usual tracebacks show all local variables of all frames, which takes seconds for each of them.
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[_drop_requests, *structlog.get_config()["processors"][:-1], renderer])
    _LOG = structlog.get_config()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """A command of the program that runs in this process configures its log. Later tests have that of the tests."""
    if structlog.get_config()["logger_factory"] is not _LOG["logger_factory"]:
        structlog.configure(**_LOG)
        logging.captureWarnings(False)
        root = logging.getLogger()
        root.handlers[:] = [one for one in root.handlers if type(one).__name__ != "Forward"]
        for one in gc.get_objects():
            if type(one) is BoundLoggerLazyProxy:
                vars(one).pop("bind", None)  # it keeps the configuration of its first line


def _drop_requests(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Tests make many thousand requests. Nobody wants to read a line for each of them."""
    if event["event"] == "request":
        raise structlog.DropEvent
    return event


def pytest_report_header() -> str:
    return f"VIVERO_SEED={_SEED}"


@pytest.fixture
def monkeypatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The same as pytest's. Models are read anew meanwhile: the test may patch their readers."""
    with read_anew():
        yield monkeypatch


@pytest.fixture
def seed() -> int:
    """The seed of all random choices of a test, below 2**31. A session has one, so that a repetition has it, too."""
    print(f"VIVERO_SEED={_SEED}")
    return _SEED


def _memory() -> Path | None:
    """A file system in memory, if there is one with room; what killed sessions left in it is deleted.

    Copying a database of 470 files takes 15 ms of CPU there, and 200 to 400 ms on a disk that others use, too.
    """
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _MEMORY_BYTES:
        return None
    for directory in _MEMORY.glob("vivero-test-*-*"):
        if not psutil.pid_exists(int(directory.name.split("-")[2])):
            shutil.rmtree(directory, ignore_errors=True)  # another worker may be deleting it
    return _MEMORY


@pytest.fixture(scope="session")
def reachable_directory() -> Iterator[Callable[[], Path]]:
    """Makes empty directories that a user other than root can pass through, which pytest's `tmp_path` is not."""
    made: list[Path] = []
    memory = _memory()

    def make() -> Path:
        directory = Path(tempfile.mkdtemp(prefix=f"vivero-test-{os.getpid()}-", dir=memory))
        directory.chmod(0o711)
        made.append(directory)
        return directory

    yield make
    for directory in made:
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def postgres_root(reachable_directory: Callable[[], Path]) -> Path:
    """The data root of the session's server; `embedded.acquire(postgres_root)` joins it."""
    return reachable_directory() / "root"


@pytest.fixture(scope="session")
def postgres_dsn(postgres_root: Path) -> Iterator[str]:
    """The URL of the session's server. Its database is nobody's: use `database`."""
    with embedded.acquire(postgres_root, embedded.TEST) as lease:
        yield lease.dsn
    embedded.wait_stopped(postgres_root)


@pytest.fixture(scope="session")
def administration(postgres_dsn: str) -> Iterator[psycopg.Connection]:
    """A connection for the statements that make and drop databases. To connect takes a third of the CPU of a copy."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def template_database(postgres_dsn: str, administration: psycopg.Connection) -> str:
    """The name of the database that every test's own database is copied from: it has the schema, and nothing else."""
    name = "template_for_tests"
    administration.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    trio.run(_migrate, psycopg.conninfo.make_conninfo(postgres_dsn, dbname=name))
    return name


async def _migrate(dsn: str) -> None:
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:
        await migrate.migrate(connection)
    finally:
        connection.close()


@pytest.fixture(scope="session")
def reuse() -> Iterator[Reuse]:
    """Sessions of the driver begin again from here on."""
    with Reuse().installed() as reuse:
        yield reuse


@pytest.fixture
def new_sessions(reuse: Reuse) -> Iterator[None]:
    """Each session begins and ends as in the program: for tests of just that."""
    with reuse.paused():
        yield


@pytest.fixture(scope="session")
def databases(
    administration: psycopg.Connection, postgres_dsn: str, template_database: str, reuse: Reuse
) -> Iterator[Databases]:
    """Databases with the schema, and nothing else."""
    made = Databases(administration, postgres_dsn, template_database, reuse)
    yield made
    made.close()


@pytest.fixture
def database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[str]:
    """The DSN of a database of this test alone, with the schema, and nothing else.

    Tests with the mark `harmless` share the database of their module.
    """
    if request.node.get_closest_marker("harmless"):
        yield request.getfixturevalue("module_database")
    else:
        with _one_for(request, databases) as dsn:
            yield dsn


def _one_for(request: pytest.FixtureRequest, databases: Databases) -> AbstractContextManager[str]:
    return databases.new() if request.node.get_closest_marker("new_database") else databases.one()


@pytest.fixture(scope="module")
def module_database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[str]:
    """The DSN of a database that the tests of a module share."""
    with _one_for(request, databases) as dsn:
        yield dsn


@pytest.fixture
def replicas(reachable_directory: Callable[[], Path]) -> Iterator[Callable[[str], Replica]]:
    """Makes servers of the test's own, which are not started yet; whatever still runs at the end is stopped."""
    directory, made = reachable_directory(), []

    def make(name: str) -> Replica:
        made.append(Replica(directory, name))
        return made[-1]

    yield make
    for replica in made:
        replica.end()
        print(f"--- {replica.name}", replica.said(), sep="\n")


@pytest.fixture
async def migrated(database):
    """The DSN of a database with the schema, of this test alone, for fixtures that are used in Trio."""
    return database


@pytest.fixture
def connect(migrated):
    """Opens a connection to the test's database."""
    return partial(driver.connect, migrated, name="vivero test")


@pytest.fixture
async def connection(connect):
    """A connection to the test's database."""
    connection = await connect()
    yield connection
    connection.close()


@pytest.fixture
async def second(databases):
    """A connection to another database with the schema, for what it is compared with."""
    with databases.one() as dsn:
        other = await driver.connect(dsn, name="vivero second")
        yield other
        other.close()
