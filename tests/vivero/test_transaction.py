"""Commands over a connection of the caller: what each library passes on, and the examples of the page."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import psycopg
import pytest
from psycopg.rows import dict_row

from vivero.transaction import InboxFull, Queue, Refused

PAGE = Path(__file__).parents[2] / "docs" / "your-own-transaction.md"
DEFINITIONS = """
    INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version,
        resource_name, sha256, state, deployed_at) VALUES (1, 1, '<default>', 'order', 1, 'o', 'o', 'ACTIVE', now());
    INSERT INTO job_dispatchers (node, types) VALUES ('a', '{mail}');
    CREATE TABLE orders (id bigint, card text);
"""  # fmt: skip


class DriverError(Exception):
    """As SQLAlchemy wraps the error of its driver."""

    def __init__(self, orig) -> None:
        super().__init__("wrapped")
        self.orig = orig


class ConnectionOfSqlalchemy:
    """The part of SQLAlchemy's `Connection` that the queue uses."""

    def __init__(self, connection) -> None:
        self.own = connection

    def exec_driver_sql(self, query, values):
        try:
            return self.own.execute(query, values)
        except psycopg.Error as error:
            raise DriverError(error) from error


class SessionOfSqlalchemy:
    """Likewise of its `Session`."""

    def __init__(self, connection) -> None:
        self.own = connection

    def connection(self):
        return ConnectionOfSqlalchemy(self.own)


class CursorOfDjango:
    """As Django's cursor, which translates errors."""

    def __init__(self, cursor) -> None:
        self.own = cursor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.own.close()

    def execute(self, query, values):
        try:
            self.own.execute(query, values)
        except psycopg.Error as error:
            raise RuntimeError("translated") from error

    def fetchone(self):
        return self.own.fetchone()


class ConnectionOfDjango:
    """Its `connection` is the one of the driver, and no function."""

    def __init__(self, connection) -> None:
        self.connection = connection

    def cursor(self):
        return CursorOfDjango(self.connection.cursor())


@pytest.fixture
def connection(database):
    with psycopg.connect(database) as connection:
        connection.execute(DEFINITIONS)
        connection.commit()
        yield connection


LIBRARIES = [lambda each: each, ConnectionOfSqlalchemy, SessionOfSqlalchemy, ConnectionOfDjango]


@pytest.mark.parametrize("library", LIBRARIES, ids=["psycopg", "connection", "session", "django"])
def test_commands_are_queued_with_the_callers_commit(connection, library):
    queue = Queue(library(connection), schema=connection.execute("SELECT current_schema()").fetchone()[0])
    queue.start_process("order", {"n": 1})
    connection.rollback()
    ids = [
        queue.start_process("order", {"n": 2}, business_id="b", tags=["t"], version=1),
        queue.publish_message("paid", "k", {"n": 3}, time_to_live=timedelta(hours=1), message_id="m", business_id="b"),
        queue.defer("mail", {"to": "ann"}, at=datetime(2030, 1, 1, tzinfo=UTC), unique_key="k"),
    ]
    connection.commit()
    rows = connection.execute(
        "SELECT id, intent, convert_from(payload, 'UTF8')::jsonb FROM transaction_inbox"
    ).fetchall()
    found = {id: (intent, payload) for id, intent, payload in rows}
    assert found.keys() == set(ids)
    assert found[ids[0]][1] == {
        "process_id": "order", "version": 1, "variables": {"n": 2}, "tags": ["t"], "business_id": "b",
    }  # fmt: skip
    assert found[ids[1]][1]["time_to_live_ms"] == 3_600_000
    assert found[ids[2]][1] == {
        "type": "mail", "payload": {"to": "ann"}, "due_ms": 1_893_456_000_000, "unique_key": "k",
    }  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES, ids=["psycopg", "connection", "session", "django"])
def test_a_refusal_has_its_reason(connection, library):
    with pytest.raises(Refused, match='there is no process "nosuch"') as caught:
        Queue(library(connection)).start_process("nosuch")
    assert caught.value.sqlstate == "P0002"
    connection.rollback()
    with pytest.raises(Refused, match="there is no job with the key 7"):
        Queue(library(connection)).complete_job(7, lease="x")


def test_other_errors_are_those_of_the_library(connection):
    with pytest.raises(psycopg.errors.InvalidSchemaName, match="no such"):
        Queue(connection, schema="no such").start_process("order")
    connection.rollback()
    for wrong in ('a"b', "a%s"):
        with pytest.raises(ValueError, match="is not allowed here"):
            Queue(connection, schema=wrong)
    with pytest.raises(ValueError, match="has no time zone"):
        Queue(connection).defer("mail", at=datetime(2030, 1, 1))


def test_a_full_inbox_is_an_error_of_its_own(connection):
    connection.execute(
        "INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, payload, size, audit, role_name)"
        " SELECT 9, 1, 't', 'X:Y', '', 300000000, '{}', 'r'"
    )
    with pytest.raises(InboxFull):
        Queue(connection).start_process("order", {"x": "x" * 70_000})


def test_rows_may_be_dictionaries(connection):
    connection.row_factory = dict_row
    assert Queue(connection).publish_message("paid") > 1 << 51


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_page_run(connection, database):
    begin, ask = blocks("sql")
    connection.autocommit = True
    connection.execute(begin)
    (python,) = blocks("python")
    exec(compile(python, str(PAGE), "exec"), {"psycopg": psycopg, "url": database})
    assert connection.execute("SELECT id FROM orders ORDER BY id").fetchall() == [(4711,), (4712,)]
    ids = [id for (id,) in connection.execute("SELECT id FROM transaction_inbox ORDER BY id").fetchall()]
    assert len(ids) == 2
    asked = re.sub(r"outcome\(\d+\)", f"outcome({ids[0]})", ask)
    assert connection.execute(asked).fetchall() == [("QUEUED", None, None, None)]


def test_the_examples_for_those_who_come_from_celery_run(connection, database):
    connection.execute("CREATE TABLE invoices (id text)")
    connection.execute("UPDATE job_dispatchers SET types = '{send-invoice}'")
    connection.commit()
    page = PAGE.with_name("from-celery.md")
    names = {"psycopg": psycopg, "url": database}
    for block in blocks("python", page):
        exec(compile(block, str(page), "exec"), names)
    assert names["send_invoice"].retry.max_attempts == 3
    assert names["nightly_report"].schedule is not None
    assert connection.execute("SELECT id FROM invoices").fetchall() == [("a1",)]
    ((added,),) = connection.execute("SELECT convert_from(payload, 'UTF8')::jsonb FROM transaction_inbox").fetchall()
    assert (added["type"], added["payload"], added["unique_key"]) == ("send-invoice", {"invoice": "a1"}, "a1")
