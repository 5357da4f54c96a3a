"""examples/snapshots: executions in a table of the user's, under optimistic locking."""

import importlib.util
import re
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from vivero.library import read

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "snapshots"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORDER = {"items": [{"price": 12, "quantity": 2}]}
STEPS = 5
"""Jobs of an order."""


def loaded():
    spec = importlib.util.spec_from_file_location("executions", FOLDER / "executions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


executions = loaded()


@pytest.fixture
def dsn(database):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(executions.TABLE)
    return database


@pytest.fixture
def connect(dsn):
    """Opens connections, and closes them."""
    opened = []

    def open_one():
        opened.append(psycopg.connect(dsn, autocommit=True))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


def test_of_two_workers_with_the_same_version_one_stores(connect):
    one, other = connect(), connect()
    executions.begin(one, "a", ORDER, NOON)
    seen = [executions.load(connection, "a") for connection in (one, other)]
    results = [executions.next_step(snapshot, executions.HANDLERS, NOON) for _, snapshot in seen]
    assert [
        executions.store(one, "a", seen[0][0], results[0]),
        executions.store(other, "a", seen[1][0], results[1]),
    ] == [
        True,
        False,
    ]
    version, snapshot = executions.load(other, "a")
    assert version == read(snapshot).version == 2


def test_two_workers_do_each_step_once(dsn, connect):
    """The version counts the stored steps, and each order ends, however they interleave."""
    connection = connect()
    for number in range(8):
        executions.begin(connection, f"order-{number}", ORDER, NOON)
    counts, meeting = Counter(), threading.Barrier(2, timeout=20)
    met = threading.local()

    def check_stock(_order):
        if not getattr(met, "once", False):  # both workers have read the same version here
            met.once = True
            meeting.wait()
        return {"inStock": True}

    handlers = {**executions.HANDLERS, "check-stock": check_stock}
    workers = [threading.Thread(target=executions.work, args=(dsn, handlers, counts)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    rows = connection.execute("SELECT version, status, snapshot::text FROM workflow_executions").fetchall()
    assert [(version, status) for version, status, _ in rows] == [(STEPS + 1, "COMPLETED")] * 8
    assert all(read(snapshot).variables["payment"] == {"receipt": "R-24", "amount": 24} for *_, snapshot in rows)
    assert counts["stored"] == 8 * STEPS
    assert counts["dropped"] >= 1, "the workers never met"


def test_a_handler_that_raises_fails_its_job_and_not_the_worker(connect, dsn):
    """Nor does an order that waits for a person keep the workers busy."""
    connection, counts = connect(), Counter()
    for number in range(2):
        executions.begin(connection, f"order-{number}", ORDER, NOON)
    executions.work(dsn, {**executions.HANDLERS, "charge-card": lambda order: order["nothing"]}, counts)
    for id in ("order-0", "order-1"):
        [incident] = read(executions.load(connection, id)[1]).incidents
        assert "KeyError: 'nothing'" in incident.message


def test_the_ten_lines_of_the_readme(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"^```python\n(.*?)^```", (FOLDER / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len([line for line in block.splitlines() if line]) <= 10
    exec(block, {})
    assert capsys.readouterr().out.startswith(f"{STEPS + 1} COMPLETED {{")


def test_the_program_runs(dsn, capsys):
    executions.main(dsn)
    assert "nothing is left to do: 50 steps stored" in capsys.readouterr().out


def test_the_ten_lines_of_the_page_of_the_library(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / "library.md").read_text(), re.MULTILINE | re.DOTALL
    )
    exec(block, {})
    assert capsys.readouterr().out.startswith("check-stock")
