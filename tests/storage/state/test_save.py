"""Statements that save rows: an insert writes every column, and an update those that may change.

Taken from the statements themselves: `json_to_recordset(…) AS x(name type, …)` says what a document has. So a new table
is tested as soon as it is saved.
"""

import inspect
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, get_type_hints

import pytest

from vivero.core.partitions.routes import Routes, spread
from vivero.core.state.instance_tree import MISSING, TERMINATED, TERMINATING, Element, Job, LoopState, UserTask
from vivero.core.state.slot_moves import SlotMove
from vivero.core.state.state import State
from vivero.storage.postgres import driver
from vivero.storage.postgres.sql_files import Statement, beside
from vivero.storage.state import save, saved_rows
from vivero.storage.state.bulk_end import BulkEnd
from vivero.storage.state.saved_rows import RowsByType
from vivero.storage.state.tables import (
    CORRELATIONS,
    DECISION_INSTANCES,
    DEPLOYMENTS,
    ELEMENTS,
    JOBS,
    TABLES,
    USER_TASKS,
)

STATEMENTS = beside(save.__file__)
ELSEWHERE = {
    *("event_log", "inbox", "element_count_changes", "tell_definitions", "fence", "fence_between"),
    *("paged_loop_items", "ended_elements", "ended_jobs", "ended_user_tasks", "parted_timers"),
    *("released_jobs", "suspended_jobs", "require_untaken", "work_items"),
}
"""Statements that save no row of the state, or one by its columns."""

SAMPLES = {
    "bigint": (11, 22),
    "int": (1, 2),
    "smallint": (1, 2),
    "text": ("a", "b"),
    "boolean": (False, True),
    "json": ({"a": 1}, {"b": [2]}),
    "text[]": (["a"], ["b", "c"]),
    "bigint[]": ([1, 2], [3]),
    "uuid": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
}
NAMED = {
    ("timers", "state"): ("PENDING", "CANCELED"),
    ("timers", "type"): ("BOUNDARY", "INTERMEDIATE"),
    ("subscriptions", "state"): ("CREATED", "DELETED"),
    ("subscriptions", "type"): ("BOUNDARY", "INTERMEDIATE"),
    ("subscriptions", "kind"): ("MESSAGE", "SIGNAL"),
    ("start_subscriptions", "kind"): ("MESSAGE", "SIGNAL"),
    ("channel_subscriptions", "state"): ("OPEN", "CORRELATING"),
    ("process_definitions", "state"): ("ACTIVE", "DELETED"),
    ("forms", "state"): ("ACTIVE", "DELETED"),
    ("generic_resources", "state"): ("ACTIVE", "DELETED"),
    ("decision_requirements", "state"): ("ACTIVE", "DELETED"),
    ("decision_definitions", "state"): ("ACTIVE", "DELETED"),
    ("user_tasks", "state"): ("CREATED", "COMPLETED"),
    ("jobs", "lease"): ("closed", "backoff"),
}
"""Values of columns that are checked, or that decide something."""

FIXED = {
    "jobs": {"ready", "returned", "worker", "lease_token", "expiries", "suspended_ready", "suspended_until"},
    "timers": {"partition_id"},
    "messages": {"partition_id"},
}
"""Columns that a document does not decide alone."""


def fields_of(statement):
    """The fields of a document that a statement reads: name → type."""
    columns = re.search(r"AS x\((.*?)\)(?=\s|,|$)", statement.text, re.DOTALL).group(1)
    return dict(column.split(None, 1) for column in re.sub(r"\s+", " ", columns).split(", "))


def table_of(statement):
    return re.search(r"INSERT INTO (\w+)", statement.text).group(1)


def documents(table, statement):
    """Two documents that differ in everything."""
    fields = fields_of(statement)
    return [
        {name: NAMED.get((table, name), SAMPLES[kind])[number] for name, kind in fields.items()} for number in (0, 1)
    ]


INSERTS = [name for name in STATEMENTS if name.startswith("new_") or name == "message_correlations"]
UPDATES = [name.removeprefix("new_") for name in INSERTS if name.removeprefix("new_") in STATEMENTS]
UPDATES = [name for name in UPDATES if STATEMENTS[name].text.startswith(("UPDATE", "WITH"))]
MIGRATED = [name for name in STATEMENTS if name.startswith("migrated_")]
"""Statements that change the owner columns of rows."""


@pytest.fixture
async def connection(database):
    connection = await partial(driver.connect, database, name="vivero test")()
    yield connection
    connection.close()


async def write(connection, statement, document):
    parameters: list[Any] = [json.dumps([document]).encode()]
    if statement.name == saved_rows.NEW_JOBS.name:
        parameters += [[], [], [], []]
    elif "$2" in statement.text:
        parameters.append(1)
    await connection.execute(statement, parameters)


async def row_of(connection, table, where="true"):
    columns = await connection.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0"
        " AND NOT attisdropped ORDER BY attnum",
        (table,),
    )
    names = [name for (name,) in columns.rows]
    text = ", ".join(f"{name}::text" for name in names)
    (row,) = (await connection.execute(f"SELECT {text} FROM {table} WHERE {where}")).rows
    return dict(zip(names, row, strict=True))


async def inserted(connection, statement, document):
    table = table_of(statement)
    await connection.execute(f"DELETE FROM {table}")  # TRUNCATE changes the catalogue: nobody could reuse the database
    await write(connection, statement, document)
    return await row_of(connection, table)


@pytest.mark.parametrize("name", INSERTS)
async def test_every_column_is_written_at_birth(connection, name):
    """Two documents that differ in everything make rows that do."""
    statement = STATEMENTS[name]
    table = table_of(statement)
    rows = [await inserted(connection, statement, document) for document in documents(table, statement)]
    same = {column for column in rows[0] if rows[0][column] == rows[1][column]}
    assert same - FIXED.get(table, set()) == set()


@pytest.mark.parametrize("name", [*UPDATES, *MIGRATED])
async def test_what_may_change_is_changed_to_what_it_would_be_at_birth(connection, name):
    """Born as one and changed into the other: as if it had been born so, in all that an update gets."""
    new, change = STATEMENTS[f"new_{name.removeprefix('migrated_')}"], STATEMENTS[name]
    table = table_of(new)
    first, second = documents(table, new)
    changes = fields_of(change)
    if changes.pop("keys", None) is not None:  # rows with the same owners share a document
        first["keys"], changes = [first["key"]], {"keys": "", **changes}
    key = [field for field in ("key", "keys", "body", "index") if field in changes]
    document = {field: first[field] if field in key else second[field] for field in changes}
    await inserted(connection, new, first)
    await write(connection, change, document)
    changed = await row_of(connection, table)
    born = await inserted(connection, new, first | document)
    assert {c: v for c, v in changed.items() if c not in FIXED.get(table, ())} == {
        c: v for c, v in born.items() if c not in FIXED.get(table, ())
    }


def test_every_row_of_the_state_is_saved():
    used = {statement.name for table in saved_rows._TABLES.values() for statement in (table[0], table[2])}
    moves = {call[0].name for row in MOVES.values() for call in calls_of_move(row)}
    released = {"save.released_commands", "save.returned_commands"}
    others = {name for name, statement in STATEMENTS.items() if statement.name not in used | moves | released}
    assert others == ELSEWHERE | {*MIGRATED}


MOVES = {
    "moved": SlotMove(1, "MOVED", (5, 7), 2, (1, 2, 3)),
    "held": SlotMove(2, "HELD"),
    "sent": SlotMove(3, "SENT", to=2, count=1),
    "released": SlotMove(4, "RELEASED", to=2),
}
"""The steps of a move of slots, in the order in which partition 3 saves them."""


def calls_of_move(row):
    """The statements of a batch of partition 3 that saves a step, without that of its log."""
    state = State(3)
    state.set_routes(Routes(1, 3, spread(3)))
    state.add(row)
    return list(save.statements_of(state, RowsByType(state), [], [], 0))[1:]


async def saved_routes(connection):
    """The owners of the slots 5 to 7, the detours, and the partitions of commands in the inbox."""
    tables = (
        "SELECT slot, partition_id FROM slots WHERE slot BETWEEN 5 AND 7 ORDER BY 1",
        "SELECT partition_id, previous, slots, held FROM slot_detours ORDER BY 1",
        "SELECT target_partition FROM inbox ORDER BY id",
    )
    return [[tuple(row) for row in (await connection.execute(table)).rows] for table in tables]


async def test_the_steps_of_a_move_of_slots_are_saved(connection):
    await connection.execute("UPDATE slots SET partition_id = 3")
    await connection.execute(
        "INSERT INTO inbox (target_partition, tenant_id, intent, payload)"
        " SELECT -3, 't', 'X:Y', '' FROM generate_series(1, 3)"
    )
    owners = [(5, 2), (6, 3), (7, 2)]
    others = [(sender, 3, [5, 7], False) for sender in (1, 2)]
    seen = {}
    for step, row in MOVES.items():
        await connection.pipeline(calls_of_move(row))
        seen[step] = await saved_routes(connection)
    assert seen == {
        "moved": [owners, [*others, (3, 3, [5, 7], False)], [(-3,)] * 3],
        "held": [owners, [*others, (3, 3, [5, 7], True)], [(-3,)] * 3],
        "sent": [owners, [*others, (3, 3, [5, 7], True)], [(-3,), (-3,), (2,)]],
        "released": [owners, others, [(2,)] * 3],
    }


@pytest.mark.parametrize("kind", saved_rows._TABLES, ids=lambda kind: kind.__name__)
def test_documents_have_what_their_statements_take(kind):
    """The names in a document are those of its statement: a name too many would be lost without a word."""
    for statement, document in (saved_rows._TABLES[kind][:2], saved_rows._TABLES[kind][2:]):
        assert named_by(document) == set(fields_of(statement)), statement.name


def named_by(document):
    """The names in the document that a function makes: of its record, or by its source, of its dictionary."""
    for table in (CORRELATIONS, DECISION_INSTANCES, DEPLOYMENTS, *TABLES):
        if document in (table.new, table.changed):
            return set((table.new_record if document is table.new else table.changed_record).__struct_fields__)
    record = get_type_hints(document)["return"]
    if hasattr(record, "__struct_fields__"):
        return set(record.__struct_fields__)
    source = inspect.getsource(document)
    names = set(re.findall(r'"(\w+)":', source))
    for called in re.findall(r"(\w+)\(row\)", source):
        if called != document.__name__:
            names |= named_by(document.__globals__[called])
    return names


async def test_the_lease_is_written_where_the_engine_says_so(connection):
    """docs/design/log.md §7: ready, closed and backoff; anything else leaves the lease alone."""
    new, change = STATEMENTS["new_jobs"], STATEMENTS["jobs"]
    first, _ = documents("jobs", new)
    base = {field: first[field] for field in fields_of(change)}
    seen = {}
    for lease in (None, "ready", "closed", "backoff"):
        await inserted(connection, new, first)
        await connection.execute(
            "UPDATE jobs SET ready = false, available_at = from_epoch_ms(5000), worker = 'w', expiries = 2,"
            " lease_token = '00000000-0000-4000-8000-000000000000'"
        )
        await write(connection, change, base | {"lease": lease, "available_at": 7_000})
        row = await connection.execute(
            "SELECT ready, to_epoch_ms(available_at), lease_token IS NOT NULL, worker, expiries FROM jobs"
        )
        seen[lease] = row.rows[0]
    assert seen == {
        None: (False, 5_000, True, "w", 2),
        "ready": (True, None, False, "w", 2),
        "closed": (False, None, False, "w", 2),
        "backoff": (False, 7_000, False, "w", 2),
    }


def test_nothing_changed_is_nothing_to_save():
    state = State(1)
    (call,) = save.statements_of(state, RowsByType(state), [], [], 0)
    assert isinstance(call[0], Statement)
    assert call[0].name == "save.event_log"


def ended_element(key, **fields):
    element = Element(key, "work", "SERVICE_TASK", TERMINATED, MISSING, MISSING, None, (key,), 1, ended_at=9)
    return changed(element, fields)


def ended_job(key, **fields):
    job = Job(key, MISSING, "t", 2, 1, 9, "CANCELED", "k", "e", 0, 3, {}, ended_at=9, lease="closed")
    return changed(job, fields)


def ended_user_task(key, **fields):
    task = UserTask(key, MISSING, 1, 50, "a", ("g", "h"), (), 5, None, {}, None, None, state="CANCELED", ended_at=9)
    return changed(task, fields)


def changed(row, fields):
    for name, value in fields.items():
        setattr(row, name, value)
    return row


ENDED = {
    "elements": [ended_element(11), ended_element(11, state=TERMINATING, ended_at=None)],
    "jobs": [ended_job(11), ended_job(11, error_code="E", error_message="M", state="ERROR_THROWN", priority=0)],
    "user_tasks": [
        ended_user_task(11),
        ended_user_task(11, assignee=None, candidate_users=("u",), due_at=None, follow_up_at=7, state="COMPLETED"),
    ],
}
CHANGED: dict[str, Callable[..., Any]] = {
    "elements": ELEMENTS.changed,
    "jobs": JOBS.changed,
    "user_tasks": USER_TASKS.changed,
}
MORE_THAN_ENDED = [
    *({"tokens": {"a": 1}}, {"live": 1}, {"then": ("complete",)}, {"interrupted": True}, {"loop": LoopState(1)}),
    *({"request": 0}, {"incidents": 1}, {"incident": 5}, {"flows": ("f",)}, {"ended_at": None}),
]


def taken(rows):
    """Rows after a save: those of the statements, by name, and the others."""
    bulk_end = BulkEnd()
    others = [other for row in rows for other in bulk_end.take(type(row), [row])]
    statements = bulk_end.statements()
    return statements, [*others, *bulk_end.others()]


@pytest.mark.parametrize(("table", "row"), [(table, row) for table, rows in ENDED.items() for row in rows])
async def test_who_ends_as_many_do_ends_as_by_a_document(connection, table, row):
    new, change = STATEMENTS[f"new_{table}"], STATEMENTS[table]
    first = documents(table_of(new), new)[0] | {"key": row.key}
    document = CHANGED[table](row)
    seen = []
    (name, params), *_ = taken([row])[0].items()
    for statement, parameters in ((change, [saved_rows._encode([document])]), (STATEMENTS[name], params)):
        await inserted(connection, new, first)
        if table == "jobs":
            await connection.execute("UPDATE jobs SET lease_token = gen_random_uuid()")
        await connection.execute(statement, parameters)
        seen.append(await row_of(connection, table_of(new)))
    assert seen[0] == seen[1]
    assert seen[0]["state"] == str(row.state)


@pytest.mark.parametrize("fields", MORE_THAN_ENDED, ids=lambda fields: next(iter(fields)))
def test_an_element_that_has_more_than_ended_has_a_document(fields):
    rows = [ended_element(key, **fields) for key in range(3)]
    assert taken(rows) == ({}, rows)


@pytest.mark.parametrize("fields", [{"lease": None}, {"lease": "ready"}, {"ended_at": None}])
def test_a_job_that_has_not_just_ended_has_a_document(fields):
    rows = [ended_job(key, **fields) for key in range(3)]
    assert taken(rows) == ({}, rows)


def test_a_user_task_that_has_not_ended_has_a_document():
    rows = [ended_user_task(key, ended_at=None) for key in range(3)]
    assert taken(rows) == ({}, rows)


def test_the_largest_group_of_each_table_is_saved_by_keys():
    jobs = [ended_job(key, retries=0) for key in range(8)] + [ended_job(key) for key in range(20, 29)]
    elements = [ended_element(key) for key in range(50, 59)]
    few = [ended_element(key, state="COMPLETED") for key in range(60, 62)]
    tasks = [ended_user_task(key, assignee=None) for key in range(70, 73)]
    mine = [ended_user_task(74)]
    statements, others = taken([*jobs, *few, *elements, *mine, *tasks])
    assert {name: params[0] for name, params in statements.items()} == {
        "ended_jobs": [*range(20, 29)],
        "ended_elements": [*range(50, 59)],
        "ended_user_tasks": [*range(70, 73)],
    }
    assert others == [*jobs[:8], *few, *mine]
