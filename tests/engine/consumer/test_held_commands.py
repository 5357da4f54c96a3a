"""Commands about an instance that migrates in pages, on PostgreSQL: they keep their order, none is lost or done twice
(docs/adr/0088).
"""

import json
from functools import partial

import pytest
import trio

from tests.core.engine import raw
from tests.core.event_models import loop, model
from tests.core.models import start, task
from tests.engine.consumer.serial_runs import Serial, append, handled, pin_clock
from tests.engine.consumer.test_migration import a_page_is_one_element, a_program, renamed
from tests.eventually import eventually
from vivero.api.computing.histories import command_document, items_of
from vivero.core.execution import held_commands
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.instances import CancelInstance, SetVariables
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.migrations import MigrateInstance
from vivero.core.state import holds
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import AuditRecord
from vivero.storage.log import command_log, recent_commands

__all__ = ["a_page_is_one_element"]

FILE = model(start(), loop(task("a"), "=items"), "start > a")
COMMANDS = 6
ALL = 1_000
"""More commits than there are."""
EPOCH_OF_ONE_TERM = 2
"""One term starts the instance, and another one does all that follows. A busy machine may end a term."""
SET = "VARIABLE_DOCUMENT:UPDATE"

LEFT = """SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM process_instances WHERE work IS NOT NULL)
    + (SELECT count(*) FROM command_log WHERE position > (SELECT max(to_pos) FROM batches))"""
VALUES = """SELECT e.event ->> 4 FROM event_log, json_array_elements(events::json) WITH ORDINALITY AS e(event, n)
    WHERE e.event ->> 0 = 'VariableSet' AND e.event ->> 3 = 'k' ORDER BY position, seq, n"""
ROWS = "SELECT count(*) FROM command_log WHERE intent = $1"
AUDITED = "SELECT position, result FROM audit_log ORDER BY position"
RECORD = AuditRecord("USER", "ada", "OPERATOR", "PROCESS_INSTANCE", "UPDATE")
ANSWERS = """SELECT coalesce(request, position), count(*) FROM event_log
    WHERE (response IS NOT NULL OR rejection IS NOT NULL) AND coalesce(request, position) = ANY ($1) GROUP BY 1"""


async def column(connection, query, *parameters):
    return [row[0] for row in (await connection.execute(query, parameters)).rows]


async def left(connection):
    """Whether anything is left to do. The appender is not here: the test moves the inbox to the log."""
    await command_log.forward(connection, 1, 100)
    return (await column(connection, LEFT))[0] > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("commits", "most"),
    [
        (1, ALL),
        (2, ALL),
        pytest.param(3, ALL, marks=pytest.mark.long),
        pytest.param(5, ALL, marks=pytest.mark.long),
        (ALL, ALL),
        (ALL, 3),
    ],
)
async def test_each_command_returns_once_although_the_program_is_killed_at_each_border(
    migrated, connection, a_page_is_one_element, monkeypatch, commits, most
):
    """A program is killed after so many commits. Commands that it has not held itself return through the log, and so do
    those that are too many for memory."""
    monkeypatch.setattr(held_commands, "RELEASED_AT_ONCE", 2)
    monkeypatch.setattr(holds, "MOST_HELD_IN_ALL", most)
    serial = Serial()
    serial.deploy(FILE)
    key = serial.start("p", items=[1, 2, 3])
    (target,) = serial.deploy(renamed(FILE, "a"))
    await pin_clock(connection)
    async with a_program(migrated, serial) as observer:
        for command in serial.commands:
            await handled(observer, connection, await append(connection, [command]))
    move = MigrateInstance(key, target, (("a", "a9"),))
    job = min(one.key for one in serial.state.jobs.values())
    late = CompleteJob(job, lease="that of a worker who came late", by_program=True)
    sent = [move, *(SetVariables(key, raw({"k": number}), by_program=True) for number in range(COMMANDS)), late]
    last = await append(connection, [(DEFAULT_TENANT, command) for command in sent], audit_log.encode(RECORD))
    lives = 0
    while await left(connection):
        lives += 1
        with trio.CancelScope() as life:
            async with a_program(migrated, serial) as observer:
                killed_by_commits(life, observer, commits)
                await eventually(partial(nothing_left, connection))
    assert lives > COMMANDS // commits, "a life commits these batches, and at most one that is under way"
    assert await column(connection, VALUES) == [str(number) for number in range(COMMANDS)]
    (rows,) = await column(connection, ROWS, SET)
    assert COMMANDS <= rows <= 2 * COMMANDS, "each is held at most once"
    if commits == 1:
        assert rows == 2 * COMMANDS, "through the log"
    one_term = await column(connection, "SELECT epoch FROM partitions WHERE id = 1") == [EPOCH_OF_ONE_TERM]
    if one_term and most == ALL:
        assert rows == COMMANDS, "no other term: in the batch of the last page"
    requests = [last - COMMANDS - 1 + number for number in range(COMMANDS + 2)]
    audited = (await connection.execute(AUDITED)).rows
    assert audited == [(one, "FAIL" if one == last else "SUCCESS") for one in requests]
    requests = requests[1:]
    assert sorted((await connection.execute(ANSWERS, (requests,))).rows) == [(one, 1) for one in requests]
    assert set(await column(connection, "SELECT element_id FROM element_instances WHERE ended_at IS NULL")) == {"a9"}
    shown = {one.position: one.rejection for one in await recent_commands.recent(connection, 1, 1 << 62, 1_000)}
    assert [one for one in (last - COMMANDS - 1 + n for n in range(COMMANDS + 2)) if shown[one]] == [last]
    for position in requests:
        told = json.loads(command_document(await command_log.command(connection, position)))
        assert told["status"] == ("REJECTED" if position == last else "PROCESSED")
    page = await command_log.history(connection, key, 0, 10_000, 1 << 40)
    sets = [item for item in items_of(page.rows) if any(event["type"] == "VariableSet" for event in item["events"])]
    assert [item["intent"] for item in sets[-COMMANDS:]] == [SET] * COMMANDS
    if one_term and rows == COMMANDS:  # the last life of several handles what no life has held
        positions = [item["requestPosition"] or item["commandPosition"] for item in sets[-COMMANDS:]]
        assert [*map(int, positions)] == requests[:-1], "its own if a slow machine had done all pages before"


def killed_by_commits(life, observer, commits):
    """Cancel a program in the moment in which it hears of its last commit."""
    committed, left = observer.committed, iter(range(commits - 1, -1, -1))

    def last_commit(*arguments):
        committed(*arguments)
        if not next(left):
            life.cancel()

    observer.committed = last_commit


async def test_a_held_command_that_has_to_wait_once_more_takes_its_audit_record_along(
    migrated, connection, a_page_is_one_element
):
    """The second migration finds a tree that its batch has changed. A cancellation comes before it then. It is not held
    at all if a slow machine has done all pages before."""
    serial = Serial()
    serial.deploy(FILE)
    key = serial.start("p", items=[1, 2, 3])
    (target,) = serial.deploy(renamed(FILE, "a"))
    (other,) = serial.deploy(FILE)
    await pin_clock(connection)
    async with a_program(migrated, serial) as observer:
        for command in serial.commands:
            await handled(observer, connection, await append(connection, [command]))
        moves = MigrateInstance(key, target, (("a", "a9"),)), MigrateInstance(key, other, (("a9", "a"),))
        sent = [(DEFAULT_TENANT, command) for command in (*moves, CancelInstance(key))]
        last = await append(connection, sent, audit_log.encode(RECORD))
        await eventually(partial(nothing_left, connection))
        accepted = [(one, observer.outcomes[one].rejection is None) for one in (last - 2, last - 1, last)]
    audited = (await connection.execute(AUDITED)).rows
    assert audited == [(one, "SUCCESS" if yes else "FAIL") for one, yes in accepted]


async def nothing_left(connection):
    """Whether the commit that was under way when the last program was killed has done all."""
    return not await left(connection)
