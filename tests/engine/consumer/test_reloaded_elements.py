"""Elements on PostgreSQL, each command when everything has been evicted: rows and events are those of a serial run."""

import pytest

from tests.core.elements.test_complex_gateway import PHASES
from tests.core.elements.test_complex_gateway import joined as gathered
from tests.core.elements.test_loop_cardinality import several
from tests.core.elements.test_quantities import joined
from tests.core.elements.test_standard_loop import looped
from tests.core.event_models import boundary, model, on, together
from tests.core.events.test_instantiating import TWO, gateway
from tests.core.events.test_multiple import MESSAGE, OTHER, ROOTS, SIGNAL
from tests.core.events.test_pending_starts import begun_by
from tests.core.message_models import model as with_roots
from tests.core.models import par, start, task
from tests.engine.consumer.serial_runs import (
    Serial,
    dump,
    event_log,
    expected_event_log,
    save_serially,
    worked_off_one_by_one,
)


def standard_loop(engine):
    engine.deploy(looped("=more", 3))
    engine.start(more=True)
    for _ in range(3):
        engine.complete("work", more=True)
    engine.complete("after")


def failing_loop(engine):
    engine.deploy(looped("=more"))
    key = engine.start()
    engine.complete("work", more=None)
    engine.set(key, more=True)
    engine.resolve()
    engine.complete("work", more=False)
    engine.complete("after")


def loop_cardinality(engine):
    engine.deploy(several("=n", 'outputCollection="all" outputElement="=r"'))
    engine.start(n=2)
    engine.complete("work", r=1)
    engine.complete("work", r=2)
    engine.complete("after")


def quantities(engine):
    engine.deploy(joined(2))
    engine.start()
    for job in ("a", "b", "t"):
        engine.complete(job)


def implicit_start(engine):
    engine.deploy(model(task("a"), task("b"), par("j"), "a > j", "b > j"))
    engine.start()
    for job in "ab":
        engine.complete(job)


def parallel_multiple(engine):
    """Half of each event occurs, and the rest of it in another command."""
    aside = together(boundary("b", "t", MESSAGE + SIGNAL, interrupting=False))
    handler = together(on(MESSAGE + OTHER, "h", task("handled"), "h-start > handled", interrupting=False))
    engine.deploy(with_roots(start(), task("t"), aside, task("aside"), handler, "start > t", "b > aside", roots=ROOTS))
    engine.start(k="1")
    for value in (1, 2):
        engine.publish("hello", "1", said=value)
        engine.broadcast("alarm", told=value)
        engine.publish("hello", "1", said=-value)
        engine.broadcast("other", told=-value)
    while engine.jobs:
        engine.complete(engine.jobs[0])


def complex_gateways(engine):
    """It starts by a variable, after its condition has failed, and resets later."""
    engine.deploy(gathered("abc", "=enough and activationCount >= 2", *PHASES))
    key = engine.start(enough="soon")
    engine.complete("a")
    engine.complete("b")
    engine.set(key, enough=False)
    engine.resolve()
    engine.set(key, enough=True)
    for job in ("first", "c", "last"):
        engine.complete(job)


def pending_start(engine):
    """Each message comes when everything has been evicted; the second round is in the buffer."""
    engine.deploy(begun_by("AB"))
    for value in (1, 2):
        for name in "BA":
            engine.publish(name, "x", ttl_ms=3_600_000, **{name: value})
    engine.publish("A", "y", lonely=True)
    engine.complete("t")
    engine.complete("t")


def parallel_gateway(engine):
    engine.deploy(gateway(*TWO, kind="Parallel"))
    for name in "BA":
        engine.publish(name, "x", **{name: 1})
    for job in ("after-c", "after-d", "last"):
        engine.complete(job)


RUNS = (
    standard_loop,
    failing_loop,
    loop_cardinality,
    quantities,
    implicit_start,
    parallel_multiple,
    pending_start,
    parallel_gateway,
    complex_gateways,
)


@pytest.mark.long
@pytest.mark.parametrize("run", RUNS, ids=[run.__name__ for run in RUNS])
async def test_it_goes_on_from_its_rows(run, migrated, connection, second):
    serial = Serial()
    run(serial)
    assert not serial.state.elements, "it ends"
    await worked_off_one_by_one(migrated, connection, serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)
