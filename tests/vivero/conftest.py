"""Whole programs around an embedded server: starting them, finding its processes, waiting for what must happen."""

import dataclasses
import itertools
import os
import re
import shutil
import site
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from tests.eventually import GUARD_S, eventually_sync
from tests.process import preloaded
from tests.server_objects import new_database
from vivero import embedded
from vivero.embedded.processes import dying_with_us

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from pathlib import Path
from vivero.embedded import Settings, acquire
with acquire(Path(sys.argv[1]), Settings.from_json(sys.argv[2])) as lease:
    print(lease.dsn, flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class ServerAt:
    """The state of the server of a data root, from outside."""

    root: Path

    @property
    def log(self) -> str:
        return (self.root / "supervisor.log").read_text()

    @property
    def server_log(self) -> str:
        return (self.root / "postgres" / "server.log").read_text()

    @property
    def supervisor(self) -> int:
        return int((self.root / "supervisor.lock").read_text())

    @property
    def postmaster(self) -> int:
        return int(re.findall(r"runs as process (\d+)", self.log)[-1])

    @property
    def starts(self) -> int:
        return self.log.count("runs as process")

    @property
    def data(self) -> Path:
        [found] = (self.root / "postgres").glob("data-*")
        return found


@pytest.fixture(scope="session")
def quick() -> embedded.Settings:
    """The settings for tests, with hardly any grace."""
    return dataclasses.replace(embedded.TEST, grace_s=0.05)


@pytest.fixture(scope="session")
def ask() -> Callable[[str | None, LiteralString], Any]:
    """The first value that a query answers."""

    def first(dsn: str | None, query: LiteralString) -> Any:
        assert dsn, "no server"
        with psycopg.connect(dsn) as connection:
            row = connection.execute(query).fetchone()
            assert row, f"no row: {query}"
            return row[0]

    return first


@pytest.fixture(scope="session")
def runs() -> Callable[[int], bool]:
    """Is there such a process, zombies not counted?"""

    def check(pid: int) -> bool:
        listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return listed.stdout.strip()[:1] not in {"", "Z"}

    return check


@pytest.fixture(scope="session")
def server_at() -> type[ServerAt]:
    return ServerAt


@pytest.fixture(scope="module")
def shared_root(reachable_directory: Callable[[], Path]) -> Path:
    """A data root that the tests of a module use one after another: each finds the data of the one before."""
    return reachable_directory() / "root"


@pytest.fixture
def root(shared_root: Path) -> Iterator[Path]:
    """`shared_root`, with no server running before and after the test; pytest shows the logs if it fails."""
    yield shared_root
    for log in shared_root.glob("**/*.log"):
        print(f"--- {log.name}:", *log.read_text().splitlines()[-60:], sep="\n")
    embedded.wait_stopped(shared_root, timeout=30)


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start_program(quick: embedded.Settings) -> Iterator[Start]:
    """Starts a program that takes a lease, prints its DSN and keeps it until its standard input ends."""
    started: list[subprocess.Popen[str]] = []

    def start(root: Path, python: str = sys.executable, **options: Any) -> subprocess.Popen[str]:
        program = subprocess.Popen(
            [python, "-c", PROGRAM, str(root), quick.to_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        with program:
            program.kill()


@dataclass(frozen=True, slots=True)
class OtherUser:
    """The command that runs Python with our code as `nobody`."""

    uid: int
    python: str
    environment: dict[str, str]


@pytest.fixture(scope="session")
def nobody() -> OtherUser:
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")
    path = os.pathsep.join([str(REPOSITORY), *site.getsitepackages()])
    environment = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    for python in filter(None, [sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")]):
        user = OtherUser(65534, python, environment)
        if _can_run(user):
            return user
    pytest.skip("user nobody can reach no Python that runs our code")


def _can_run(user: OtherUser) -> bool:
    command = [user.python, "-c", "import vivero.embedded"]
    try:
        tried = subprocess.run(command, user=user.uid, env=user.environment, capture_output=True, check=False)
    except PermissionError:
        return False
    return tried.returncode == 0


# ------------------------------------------------------------------------------------------------ whole programs


@dataclass(frozen=True, slots=True)
class Program:
    """A running `vivero …`; what it says is in files, so that it never waits for a reader."""

    process: subprocess.Popen[bytes] | preloaded.Forked
    output: Path
    errors: Path

    @property
    def said(self) -> str:
        return self.output.read_text()

    @property
    def logged(self) -> str:
        return self.errors.read_text()

    @property
    def address(self) -> str:
        """The address where it listens, once it has printed it."""
        found = re.search(r"http://[\w.\[\]:-]+", self.said)
        return found[0] if found else ""

    def ends(self, timeout: float = GUARD_S) -> int:
        """Its exit code."""
        return self.process.wait(timeout)


@pytest.fixture
def empty_database(postgres_dsn: str) -> Iterator[str]:
    """The DSN of a database without our schema."""
    with new_database(postgres_dsn, "without_schema") as dsn:
        yield dsn


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port of the loopback on which nobody listens, and nobody will for the length of the test."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


UNSAFE = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "on"}
"""The tests' PostgreSQL does not sync; the program would refuse it."""


@contextmanager
def programs(directory: Path) -> Iterator[Callable[..., Program]]:
    """Starts `python -m vivero …`; kills at the end what still runs, and shows what it said.

    Unless told otherwise, the program begins with its code imported.
    """
    started: list[Program] = []

    def start(*arguments: str, forked: bool = True, module: str = "vivero", **environment: str) -> Program:
        number = len(started)
        output, errors = directory / f"vivero-{number}.out", directory / f"vivero-{number}.err"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("VIVERO_", "CAMUNDA_"))}
        begin = preloaded.start if forked else _start
        started.append(Program(begin(module, arguments, clean | environment, output, errors), output, errors))
        return started[-1]

    yield start
    for program in started:
        program.process.kill()
        program.process.wait(30)
        print(f"--- {program.output}", program.said[-4000:], program.logged[-4000:], sep="\n")


def _start(
    module: str, arguments: Sequence[str], environment: dict[str, str], output: Path, errors: Path
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", module, *arguments]
    with output.open("wb") as out, errors.open("wb") as err:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=REPOSITORY,
            env=environment,
            preexec_fn=dying_with_us(),
        )


@pytest.fixture
def vivero(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Starts `python -m vivero …` for the length of a test.

    The database of the test comes first, for it must not be emptied while a program still writes to it.
    """
    if "database" in request.fixturenames:
        request.getfixturevalue("database")
    with programs(tmp_path) as start:
        yield start


def serve(start: Callable[..., Program], database: str, *arguments: str) -> Program:
    """A server on a database, on a free port, once it is ready."""
    program = start("up", "--port", "0", "--database-url", database, *arguments, **UNSAFE)
    eventually_sync(
        lambda: program.address or program.process.poll() is not None,
        "the program is ready or gone",
        every_s=preloaded.ASK_EVERY_S,
    )
    assert program.address, program.logged
    return program


@pytest.fixture
def up(vivero: Callable[..., Program]) -> Callable[..., Program]:
    """Starts a server on a database and waits until it is ready."""

    def start(database: str, *arguments: str, **environment: str) -> Program:
        return serve(lambda *given, **unsafe: vivero(*given, **unsafe, **environment), database, *arguments)

    return start


@pytest.fixture(scope="module")
def shared_server(
    postgres_dsn: str,
    template_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """A server for all tests of a module: each has processes and job types of its own (`greeting`)."""
    copy = f"TEMPLATE {template_database} STRATEGY file_copy"
    with new_database(postgres_dsn, "shared", copy) as dsn, programs(tmp_path_factory.mktemp("shared")) as start:
        yield serve(start, dsn)


_greetings = itertools.count(1)


@pytest.fixture
def greeting(tmp_path: Path) -> tuple[str, Path]:
    """The first example under a name of this test alone, which is also the type of its jobs; and its file."""
    name = f"greet-{next(_greetings)}"
    text = (REPOSITORY / "examples" / "first" / "greet.bpmn").read_text()
    file = tmp_path / f"{name}.bpmn"
    file.write_text(text.replace('id="greet"', f'id="{name}"').replace('type="greet"', f'type="{name}"'))
    return name, file


@pytest.fixture(autouse=True)
def always(new_sessions):
    """Programs begin and end their own sessions: so do these tests."""
