"""Migration of an instance whose completed activities are in the database: one load brings all of them."""

import pytest

from tests.core.compensation_models import done, in_line
from tests.core.event_models import loop
from tests.core.models import end, start, sub, task
from tests.engine.consumer.serial_runs import Serial, save_serially
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.migrations import MigrateInstance
from vivero.core.state.state import State
from vivero.storage.state import load

COUNT = 70
"""More than a page of them."""
ROWS = 2 * COUNT + 1
"""The loop, its inner instances, and the activity inside each."""


def looped(id):
    inner = sub("m", start("i"), done(id), end("j"), f"i > {id} > j")
    return in_line(loop(inner, f"=for i in 1..{COUNT} return i"), task("w"))


@pytest.fixture
async def stored(connection):
    """A loop with completed activities, in the database; its models, and its migration with what that needs."""
    serial = Serial(StepLimits(500, paged_from=500))
    (source,) = serial.deploy(looped("a"))
    key = serial.start("p")
    for _ in range(COUNT):
        serial.complete("a")
    (target,) = serial.deploy(looped("b"))
    await save_serially(connection, serial)
    command = MigrateInstance(key, target, (("a", "b"), ("m", "m"), ("w", "w")))
    needs = [Need(NeedKind.INSTANCE, key), *(Need(NeedKind.DEFINITION, one) for one in (source, target))]
    return serial.memory.find_model, command, needs


async def outcome(connection, stored, most):
    """The outcome on a node that has nothing in memory, and the loads that it asked for."""
    find_model, command, needs = stored
    processor = Processor(State(1), StepLimits(500, max_whole_rows=most), find_model)
    await load.fill(connection, processor.state, needs)
    asked: list[Need] = []
    while len(asked) == len(set(asked)):
        try:
            (row, *_) = processor.process(CommandRecord(1, DEFAULT_TENANT, command, None), 0, {})
        except NotLoaded as missing:
            asked.append(missing.need)
            await load.fill(connection, processor.state, asked[-1:])
        else:
            return row, asked, processor.state
    raise AssertionError(f"the last one is asked for twice: {asked}")


async def test_one_load_brings_all(connection, stored):
    row, asked, state = await outcome(connection, stored, ROWS)
    assert row.rejection is None
    assert asked == [Need(NeedKind.ALL_REGISTRATIONS, (stored[1].key, ROWS + 1))]
    names = [row.element for row in state.registrations.by_key.values()]
    assert sorted(set(names)) == ["b", "m"]
    assert len(names) == ROWS
    for groups in state.registrations.of_scope.values():
        for group in groups.values():
            assert list(group) == sorted(group), "in the order of completion"


async def test_too_many_are_refused_whatever_is_loaded(connection, stored):
    row, asked, _ = await outcome(connection, stored, ROWS - 1)
    assert row.rejection is not None
    assert row.rejection.reason.endswith(f"it has more than {ROWS - 1} completed elements that can be compensated")
    assert len(asked) <= 1
