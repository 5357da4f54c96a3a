"""PostgreSQL for the tests: one embedded server per session, one fresh database per test."""

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import trio
from psycopg import sql

from storage import driver, migrate
from vivero import embedded

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def reachable_directory() -> Iterator[Callable[[], Path]]:
    """Makes empty directories that a user other than root can pass through, which pytest's `tmp_path` is not."""
    made: list[Path] = []

    def make() -> Path:
        directory = Path(tempfile.mkdtemp(prefix="vivero-test-"))
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


def _administer(dsn: str, statement: sql.Composed) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture(scope="session")
def template_database(postgres_dsn: str) -> str:
    """The name of the database that every test's own database is copied from: it has the schema, and nothing else."""
    name = "template_for_tests"
    _administer(postgres_dsn, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    trio.run(_migrate, psycopg.conninfo.make_conninfo(postgres_dsn, dbname=name))
    return name


async def _migrate(dsn: str) -> None:
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:
        await migrate.migrate(connection)
    finally:
        connection.close()


@contextmanager
def _copy(dsn: str, template: str) -> Iterator[str]:
    """A copy of the template database for a while: its DSN."""
    name = f"test_{next(_numbers)}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    _administer(dsn, create.format(sql.Identifier(name), sql.Identifier(template)))
    yield psycopg.conninfo.make_conninfo(dsn, dbname=name)
    _administer(dsn, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def database(postgres_dsn: str, template_database: str) -> Iterator[str]:
    """The DSN of a database of this test alone, a copy of `template_database`."""
    with _copy(postgres_dsn, template_database) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def module_database(postgres_dsn: str, template_database: str) -> Iterator[str]:
    """The DSN of a database that the tests of a module share."""
    with _copy(postgres_dsn, template_database) as dsn:
        yield dsn
