"""Very large variables are decoded in a thread, and everything happens as if they were small."""

import threading
from itertools import cycle

import msgspec
import pytest

from tests.core.engine import raw
from tests.core.event_models import script
from tests.core.models import end, process, start, task
from tests.engine.consumer.serial_runs import Serial, append, make_consumer
from tests.engine.consumer.test_poison import lead_until
from vivero.core.records.instances import CreateInstance
from vivero.core.rules import VERY_LARGE_JSON
from vivero.engine.consumer import loader
from vivero.engine.consumer.quanta import Quanta

COUNTS = process(
    start(),
    task("work", inputs=[("=count(a) + count(b)", "both"), ("=a", "copy")]),
    end(),
    "start > work > end",
)


def a_list(characters, number):
    """A list of fractions with at least so many characters of JSON, and at most a third more."""
    return [number + 0.5] * (characters // 4 + 1)


@pytest.mark.long
@pytest.mark.parametrize("characters", [VERY_LARGE_JSON // 2, VERY_LARGE_JSON])
async def test_variables_of_an_instance_that_reads_them_at_once(migrated, connection, monkeypatch, characters):
    threads = []
    decoded = loader._decoded

    def noted(text):
        threads.append(threading.current_thread() is not threading.main_thread())
        return decoded(text)

    monkeypatch.setattr(loader, "_decoded", noted)
    serial = Serial()
    serial.deploy(COUNTS)
    base = serial.commands
    variables = {"a": a_list(characters, 1), "b": a_list(characters, 2), "small": 1}
    await append(connection, base)
    last = await append(connection, [("<default>", CreateInstance("p", variables=raw(variables)))] * 2)
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    assert [outcome.rejection for outcome in observer.outcomes.values()] == [None] * len(observer.outcomes)
    assert set(threads) == ({True} if characters == VERY_LARGE_JSON else set())
    rows = (await connection.execute("SELECT name, value::text FROM variables WHERE name IN ('both', 'copy')")).rows
    values = sorted((name, msgspec.json.decode(value)) for name, value in rows)
    assert [value for name, value in values if name == "both"] == [2 * len(variables["a"])] * 2
    assert [value for name, value in values if name == "copy"] == [variables["a"]] * 2
    assert consumer.stats.terms == 1


async def test_a_very_large_variable_in_memory():
    serial = Serial()
    serial.deploy(COUNTS)
    value = a_list(VERY_LARGE_JSON, 1)
    serial.start(a=value, b=value)
    both = [variable.value for element in serial.state.elements.values() for variable in element.variables.values()
            if variable.name == "both"]  # fmt: skip
    assert both == [str(2 * len(value))]
    assert serial.state.values == {}


async def test_several_values_are_decoded_beside_a_loop_without_end(migrated, connection, monkeypatch):
    """Values that were decoded for a command stay until it runs, whatever quanta are between."""
    turns = cycle([True, False])
    monkeypatch.setattr(Quanta, "due", property(lambda _: next(turns)))
    serial = Serial()
    serial.deploy(COUNTS, process(start("s"), script("again", "=1", "r"), "s > again > again", id="endless"))
    consumer, observer = make_consumer(migrated, serial.resources)
    created = CreateInstance(
        "p", variables=raw({name: a_list(VERY_LARGE_JSON, number) for number, name in enumerate("ab")})
    )
    await append(connection, [*serial.commands, ("<default>", CreateInstance("endless"))])
    last = await append(connection, [("<default>", created)])
    await lead_until(consumer, observer, last)
    assert observer.outcomes[last].rejection is None
