"""Parts of a paged loop that are loaded to end come without variables; a command that needs them loads them first."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import trio

from tests.core.event_models import loop, model
from tests.core.models import start, task
from tests.engine.consumer.serial_runs import PINNED_MS, Serial, save_serially
from tests.engine.whole_engine import WholeEngine
from tests.sent_statements import record_statements
from vivero.core.dispatch import COMMANDS
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.instances import CancelInstance, ContinueWork, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.state import batches, eviction
from vivero.core.state.lazy_variables import LazyVariables
from vivero.core.state.state import State
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.outcomes.waiters import InstanceEnd
from vivero.storage.state import load, pages

RESULT = {"answer": msgspec.Raw(b"42")}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(pages, "CHILDREN_A_PAGE", 4)


@pytest.fixture
async def ending(connection):
    """A processor in whose state a paged loop is to end, and of whose inner instances the first four are loaded.

    The variables of the process instance are loaded, too: the tests look at those of inner instances.
    """
    serial = Serial(StepLimits(500, paged_from=0))
    serial.deploy(model(start(), loop(task("work"), item="item"), "start > work"))
    key = serial.start("p", items=list(range(30)))
    await save_serially(connection, serial)
    processor = Processor(State(1), StepLimits(1, paged_from=0), serial.memory.find_model)
    await fill(connection, processor, CancelInstance(key))
    processor.process(CommandRecord(1_000, DEFAULT_TENANT, CancelInstance(key)), PINNED_MS)
    await fill(connection, processor, ContinueWork(key))
    await load.fill(connection, processor.state, [Need(NeedKind.VARIABLES, key)])
    return processor


async def fill(connection, processor, command):
    await load.fill(connection, processor.state, COMMANDS[type(command)].needs(command, DEFAULT_TENANT))


def inner_of(processor):
    (body,) = processor.state.paged.values()
    return list(body.children.values())


def complete(processor, inner):
    (job,) = inner.waits.jobs
    return processor.process(CommandRecord(1_001, DEFAULT_TENANT, CompleteJob(job, RESULT)), PINNED_MS)


async def values(connection, scope):
    rows = await connection.execute("SELECT name, value FROM variables WHERE scope_key = $1", (scope.key,))
    return dict(rows.rows)


async def test_who_is_only_to_end_comes_without_variables(ending):
    assert len(inner_of(ending)) == 4
    assert all(isinstance(inner.variables, LazyVariables) for inner in inner_of(ending))
    while inner_of(ending):
        assert ending.run_deferred(ending.deferred(), PINNED_MS)


async def test_a_command_that_was_not_told_of_is_undone_and_finds_them_then(connection, ending):
    inner = inner_of(ending)[3]
    with pytest.raises(NotLoaded) as missing:
        complete(ending, inner)
    assert missing.value.need == Need(NeedKind.VARIABLES, inner.key)
    assert inner.waits.jobs
    weight = ending.state.weight
    await load.fill(connection, ending.state, [missing.value.need])
    found = {name: variable.value for name, variable in inner.variables.items()}
    assert found == await values(connection, inner)
    assert found["item"] == "3"
    grown = sum(variable.weight() for variable in inner.variables.values())
    assert ending.state.weight - weight == grown > 0
    (handled, *_) = complete(ending, inner)
    assert handled.rejection is None
    assert not inner.waits.jobs


async def test_what_a_command_names_is_read_with_its_variables(connection, ending):
    """And nothing else: the others' stay where they are."""
    *others, inner = inner_of(ending)
    (job,) = inner.waits.jobs
    await fill(connection, ending, CompleteJob(job, RESULT))
    assert {name: variable.value for name, variable in inner.variables.items()} == await values(connection, inner)
    assert all(isinstance(other.variables, LazyVariables) for other in others)
    (handled, *_) = complete(ending, inner)
    assert handled.rejection is None


async def test_who_was_forgotten_meanwhile_has_none_to_read(connection, ending):
    part = inner_of(ending)[2].key
    batches.close(ending.state)
    ending.state.begin_batch()
    eviction.evict_part(ending.state, ending.state.parts[part])
    await load.fill(connection, ending.state, [Need(NeedKind.VARIABLES, part)])
    assert part not in ending.state.elements


LOOKING: list[Callable[[Any], object]] = [
    *(lambda some: some["a"], lambda some: some.get("a"), lambda some: "a" in some, list, dict),
    *(lambda some: some.keys(), lambda some: some.values(), lambda some: some.items(), lambda some: {**some}),
    *(dict.fromkeys, lambda some: some.__setitem__("a", None), lambda some: some.__delitem__("a"), reversed),
    *(lambda some: some | {}, lambda some: {} | some, lambda some: some.copy(), lambda some: some == {}),
    *(lambda some: some.pop("a"), lambda some: some.setdefault("a"), lambda some: some.update(a=1)),
]


@pytest.mark.parametrize("look", LOOKING)
def test_nobody_looks_inside_without_noticing(look):
    with pytest.raises(NotLoaded) as missing:
        look(LazyVariables(7))
    assert missing.value.need == Need(NeedKind.VARIABLES, 7)


def test_they_weigh_nothing():
    assert not LazyVariables(7)


@pytest.fixture
async def waiting(connection):
    """A processor without any row, and the key of an instance that waits; it has a variable."""
    serial = Serial(StepLimits(500))
    serial.deploy(model(start(), task("work"), "start > work"))
    key = serial.start("p", text="x" * 1000)
    await save_serially(connection, serial)
    return Processor(State(1), StepLimits(500), serial.memory.find_model), key


async def test_an_instance_that_is_cancelled_is_loaded_without_its_variables(connection, waiting):
    """They may be 160 MB, for which all others would wait."""
    processor, key = waiting
    await fill(connection, processor, CancelInstance(key))
    root = processor.state.trees[key].root
    assert isinstance(root.variables, LazyVariables)
    processor.process(CommandRecord(1_000, DEFAULT_TENANT, CancelInstance(key)), PINNED_MS)
    assert key not in processor.state.trees
    assert processor.state.weight == 0


async def test_a_client_who_cancels_has_no_variable_read(migrated, monkeypatch):
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=0))
    async with engine.running():
        await engine.deploy(model(start(), task("work"), "start > work"))
        created = await engine.run(CreateInstance("p", variables={"text": msgspec.Raw(b'"x"')}))
        sent = record_statements(monkeypatch)
        key = int(msgspec.json.decode(created.response)["processInstanceKey"])
        send, ends = trio.open_memory_channel(1)
        with engine.completions.register_end(key, send):
            outcome = await engine.run(CancelInstance(key))
            assert ends.receive_nowait() == InstanceEnd("TERMINATED")
    assert outcome.rejection is None
    assert "load.instances" in sent
    assert "load.variables" not in sent


async def test_an_instance_that_was_not_cancelled_after_all_gets_its_variables(connection, waiting):
    processor, key = waiting
    await fill(connection, processor, CancelInstance(key))
    await load.fill(connection, processor.state, [Need(NeedKind.INSTANCE, key)])
    root = processor.state.trees[key].root
    assert {name: variable.value for name, variable in root.variables.items()} == await values(connection, root)
    weight = processor.state.weight
    eviction.evict_trees(processor.state, [root.tree])
    assert (weight > 1000, processor.state.weight) == (True, 0)


async def test_who_uses_an_instance_that_another_cancels_in_the_same_batch_gets_its_variables(connection, waiting):
    processor, key = waiting
    needs = [Need(NeedKind.INSTANCE, key, to_end=True), Need(NeedKind.INSTANCE, key)]
    await load.fill(connection, processor.state, needs)
    root = processor.state.trees[key].root
    assert {name: variable.value for name, variable in root.variables.items()} == await values(connection, root)
