"""Modifications whose ends go in pages, on PostgreSQL: they come to the same as in memory (docs/adr/0088)."""

import pytest

from tests.core.event_models import loop, model
from tests.core.models import end, start, sub, task
from tests.core.modification_models import command, move
from tests.engine.consumer.serial_runs import Serial, append, handled, pin_clock, save_serially
from tests.engine.consumer.test_migration import (
    NOTHING_BELOW_ZERO,
    a_page_is_one_element,
    a_program,
    tables,
)
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import ElementTerminating
from vivero.core.records.modifications import SOURCE_PARENT

__all__ = ["a_page_is_one_element"]

INSIDE = sub("s", start("i"), task("a"), task("b"), end("ie"), "i > a", "b > ie")
FILE = model(start(), loop(INSIDE, "=items"), task("c"), end(), "start > s > c > end")


@pytest.mark.parametrize("paged_from", [2, 500])
async def test_pages_come_to_the_same_as_in_memory(migrated, connection, second, a_page_is_one_element, paged_from):
    """Everything is evicted after each page, also the inner instances of a paged loop."""
    serial = Serial(StepLimits(500, paged_from=paged_from, migration_page=1))
    serial.deploy(FILE)
    key = serial.start("p", items=[1, 2, 3])
    before = len(serial.memory.log)
    serial.accepted(command(key, move("a", "b", SOURCE_PARENT)))
    begun = [
        sum(isinstance(event, ElementTerminating) for one in logged.handled for event in one.events)
        for logged in serial.memory.log[before:]
    ]
    assert begun[:4] == [0, 1, 1, 1], "pages of one element, behind the first quantum"
    await pin_clock(connection)
    async with a_program(migrated, serial, paged_from=paged_from) as observer:
        for each in serial.commands:
            await handled(observer, connection, await append(connection, [each]))
        await observer.until(lambda: observer.watermark >= serial.memory.log[-1].position)
    assert sorted(one.element for one in serial.state.elements.values() if one.type == "SERVICE_TASK") == ["b"] * 3
    await save_serially(second, serial)
    assert await tables(connection) == await tables(second)
    assert (await connection.execute(NOTHING_BELOW_ZERO)).rows == []
