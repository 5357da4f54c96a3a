"""Migration on PostgreSQL: the tables are as in memory, whatever is loaded, and as the events say."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest
import trio

from tests.core.compensation_models import T, done, in_line
from tests.core.event_models import boundary, call, loop, model, on
from tests.core.listener_models import listening
from tests.core.models import end, start, sub, task
from tests.core.task_listener_models import user_task
from tests.engine.consumer.serial_runs import (
    Serial,
    append,
    beat,
    dump,
    event_log,
    expected_event_log,
    handled,
    make_consumer,
    pin_clock,
    save_serially,
    work_off,
    worked_off_one_by_one,
)
from tests.eventually import eventually
from vivero.core.execution.step import StepLimits
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.engine.consumer import term
from vivero.engine.consumer.limits import step_limits
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import AuditRecord

HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


def renamed(file, *ids):
    for id in ids:
        file = file.replace(f'"{id}"'.encode(), f'"{id}9"'.encode())
    return file


def cycle(file, *ids, id="p"):
    """The id of a process, its file, the same with other ids, and the mappings."""
    return id, file, renamed(file, *ids), tuple((one, f"{one}9") for one in ids)


MODELS = (
    cycle(
        listening(
            model(
                start(),
                sub("s", start("i"), task("a"), boundary("x", "a", HOUR, False), boundary("y", "a", HOUR), "i > a"),
                boundary("z", "s", HOUR, False),
                on(HOUR, "e", task("ea"), "e-start > ea", interrupting=False),
                "start > s",
            ),
            a=["start told"],
        ),
        *("s", "a", "x", "y", "z", "e", "ea"),
    ),
    cycle(model(start(), user_task("u"), end(), "start > u > end"), "u"),
    cycle(model(start(), task("f", inputs=[("=missing.x + 1", "y")]), "start > f"), "f"),
    cycle(model(start(), call("c", "p"), "start > c", id="q"), "c", id="q"),
    cycle(
        in_line(sub("in", start("i"), done("b"), end("j"), "i > b > j"), task("w"), T, id="r"), "in", "b", "w", id="r"
    ),
    cycle(
        model(
            start(),
            loop(sub("m", start("k"), task("n"), boundary("nb", "n", HOUR, False), "k > n"), "=items", item="i"),
            "start > m",
            id="t",
        ),
        *("m", "n", "nb"),
        id="t",
    ),
)


def opening(*events):
    """A loop in which each inner instance catches these events."""
    inner = sub("m", start("k"), task("n"), *events, "k > n")
    return model(start(), loop(inner, "=items", item="i"), "start > m", id="t")


OPENED = boundary("nb", "n", HOUR, False), on(HOUR, "ne", task("nt"), "ne-start > nt", interrupting=False)


def run_serially(paged_from, **limits):
    """Instances of several kinds, migrated there, back, and on: with timers that change places."""
    serial = Serial(StepLimits(500, paged_from=paged_from, **limits))
    started = []
    for process, source, target, mappings in MODELS:
        (first,) = serial.deploy(source)
        key = serial.start(process, items=[1, 2, 3, 4])
        (second,) = serial.deploy(target)
        started.append((key, first, second, mappings))
    serial.complete("b")
    for key, first, second, mappings in started:
        back = tuple((after, before) for before, after in mappings)
        serial.accepted(MigrateInstance(key, second, mappings))
        serial.accepted(MigrateInstance(key, first, back))
        swapped = tuple((one, {"x": "y", "y": "x"}.get(one, one)) for one, _ in mappings)
        serial.accepted(MigrateInstance(key, first, swapped))
        serial.accepted(MigrateInstance(key, second, mappings))
    serial.complete("w9")
    serial.complete("n9")
    migrate_a_tree(serial)
    return serial


def migrate_a_tree(serial):
    """The called instances of a loop move with their caller, and one of them goes on."""
    called = model(start(), task("deep"), boundary("db", "deep", HOUR, False), "start > deep", id="called")
    caller = model(start(), loop(call("cc", "called"), "=items"), "start > cc", id="caller")
    (source,) = serial.deploy(called)
    serial.deploy(caller)
    key = serial.start("caller", items=[1, 2, 3, 4])
    (other,) = serial.deploy(renamed(called, "deep", "db"))
    (target,) = serial.deploy(renamed(caller, "cc"))
    moved = CalledMigration(source, other, (("deep", "deep9"), ("db", "db9")))
    serial.accepted(MigrateInstance(key, target, (("cc", "cc9"),), called=(moved,)))
    serial.complete("deep9")


async def tables(connection):
    """All rows. A batch leaves out the count of an element that it brings and takes away."""
    found = await dump(connection, without={"version"})
    found["counted_elements"] = [row for row in found["counted_elements"] if not row.endswith(", 0, 0, 0]")]
    return found


NOTHING_BELOW_ZERO = (
    "SELECT element_id FROM counted_elements GROUP BY process_definition_key, element_id HAVING sum(active) < 0"
)


@pytest.mark.parametrize(("work", "paged_from"), [(worked_off_one_by_one, 2), (work_off, 500)], ids=["paged", "whole"])
async def test_it_comes_to_the_same_as_in_memory(migrated, connection, second, work, paged_from):
    serial = run_serially(paged_from)
    await work(migrated, connection, serial, paged_from=paged_from)
    await save_serially(second, serial)
    assert await tables(connection) == await tables(second)
    assert (await connection.execute(NOTHING_BELOW_ZERO)).rows == []
    if paged_from == 500:  # otherwise the log has quanta between commands, too
        assert await event_log(connection) == expected_event_log(serial)


@pytest.fixture
def a_page_is_one_element(monkeypatch):
    def limits(settings, rules):
        return replace(step_limits(settings, rules), migration_page=1)

    monkeypatch.setattr(term, "step_limits", limits)


@pytest.mark.long
@pytest.mark.parametrize("paged_from", [2, pytest.param(500, marks=pytest.mark.long)])
async def test_pages_come_to_the_same_as_in_memory(migrated, connection, second, a_page_is_one_element, paged_from):
    """Everything is evicted after each page."""
    serial = run_serially(paged_from, migration_page=1)
    await pin_clock(connection)
    async with a_program(migrated, serial, paged_from=paged_from) as observer:
        for command in serial.commands:
            await handled(observer, connection, await append(connection, [command]))
    await save_serially(second, serial)
    assert await tables(connection) == await tables(second)
    assert (await connection.execute(NOTHING_BELOW_ZERO)).rows == []


AUDITED = "SELECT position, result FROM audit_log ORDER BY position"
RECORD = AuditRecord("USER", "ada", "DEPLOYED_RESOURCES", "PROCESS_INSTANCE", "MIGRATE")
LEFT = """SELECT (SELECT count(*) FROM process_instances WHERE work IS NOT NULL)
    + (SELECT count(*) FROM command_log
       WHERE intent = 'PROCESS_INSTANCE:MIGRATE' AND position > (SELECT max(position) FROM event_log))"""


@pytest.mark.long
async def test_a_migration_goes_on_after_the_program_was_killed_at_each_border(
    migrated, connection, second, a_page_is_one_element
):
    """Keys tell the lives apart: a life that is killed takes those of timers that its successor opens."""
    serial = Serial(StepLimits(500, migration_page=1))
    moves = []
    for process, source, target, mappings in MODELS:
        serial.deploy(source)
        key = serial.start(process, items=[1, 2, 3])
        (definition,) = serial.deploy(target)
        moves.append(MigrateInstance(key, definition, mappings))
    moves += many_waits(serial)
    serial.complete("b")
    begun = len(serial.commands)
    for move in moves:
        serial.accepted(move)
    await pin_clock(connection)
    async with a_program(migrated, serial) as observer:
        for command in serial.commands[:begun]:
            await handled(observer, connection, await append(connection, [command]))
    last = await append(connection, serial.commands[begun:], audit_log.encode(RECORD))
    lives = 0
    while await left(connection):
        lives += 1
        with trio.CancelScope() as life:
            async with a_program(migrated, serial) as observer:
                observer.life = life
                await eventually(partial(a_border, observer, connection))
    assert lives > len(moves), "each migration has several pages"
    first = last + 1 - len(serial.commands[begun:])
    requests = [first + n for n, (_, command) in enumerate(serial.commands[begun:]) if command in moves]
    audited = (await connection.execute(AUDITED)).rows
    of_moves = [result for position, result in audited if position in requests]
    assert of_moves == ["FAIL" if n == REFUSED else "SUCCESS" for n in range(-len(moves), 0)], "one for each, the last"
    await save_serially(second, serial)
    assert without_keys(await tables(connection)) == without_keys(await tables(second))
    assert (await connection.execute(NOTHING_BELOW_ZERO)).rows == []


def without_keys(found):
    timers = [json.loads(row) for row in found["timers"]]
    del found["audit_log"]  # there is none in memory
    return {
        **found,
        "timers": sorted(sorted((name, str(row[name])) for name in row if name != "timer_key") for row in timers),
    }


REFUSED = -2


def many_waits(serial):
    """Migrations that decide in pages: they open and close waits, and move called instances. `REFUSED` is refused."""
    serial.deploy(opening())
    keys = [serial.start("t", items=[1, 2, 3]) for _ in range(2)]
    (target,) = serial.deploy(opening(*OPENED))
    (wrong,) = serial.deploy(opening(*OPENED, boundary("nw", "n", HOUR.replace("PT1H", "=i"), False)))
    same = (("m", "m"), ("n", "n"))
    called = model(start(), task("deep"), "start > deep", id="called")
    (source,) = serial.deploy(called)
    (caller,) = serial.deploy(model(start(), loop(call("cc", "called"), "=items"), "start > cc", id="caller"))
    tree = serial.start("caller", items=[1, 2, 3])
    (other,) = serial.deploy(renamed(called, "deep"))
    moved = CalledMigration(source, other, (("deep", "deep9"),))
    return (
        MigrateInstance(keys[0], target, same),
        MigrateInstance(keys[1], wrong, same),
        MigrateInstance(tree, caller, (("cc", "cc"),), called=(moved,)),
    )


async def left(connection):
    return (await connection.execute(LEFT)).rows[0][0]


async def a_border(observer, connection):
    """Whether this life has committed something, or the commit under way when the last one was killed has done all."""
    return observer.commits or not await left(connection)


@asynccontextmanager
async def a_program(dsn, serial, **settings):
    """The observer of a program without a cache, which handles each command in a transaction of its own. At the end it
    is killed."""
    settings = {"cache_bytes": 0, "batch_commands": 1, **settings}
    consumer, observer = make_consumer(dsn, serial.resources, **settings)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        yield observer
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("events", "parted"), [(["x", "y"], True), (["x"], False)])
def test_only_timers_that_may_change_places_are_saved_twice(events, parted):
    """A large tree has thousands that are alone in their elements. Each write rewrites the entries of all indexes."""
    serial = Serial()
    timers = [boundary(id, "a", HOUR, False) for id in events]
    file = model(start(), task("a"), *timers, "start > a")
    serial.deploy(file)
    key = serial.start("p")
    (target,) = serial.deploy(renamed(file, "a", *events))
    serial.accepted(MigrateInstance(key, target, tuple((id, f"{id}9") for id in ("a", *events))))
    saved = {str(statement.name) for statement, _ in serial.batches[-1]}
    assert "save.migrated_timers" in saved
    assert ("save.parted_timers" in saved) == parted
