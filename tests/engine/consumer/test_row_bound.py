"""A bound on the rows that are loaded at once: a batch takes fewer commands, and a page of a signal fewer receivers."""

import pytest
import trio

from tests.core.event_models import model
from tests.core.message_models import catch, signal
from tests.core.message_models import model as signal_model
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock, save_serially
from vivero.core.needs import Need, NeedKind
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.signals import BroadcastSignal
from vivero.core.state import eviction
from vivero.core.state.state import State
from vivero.storage.log import command_log
from vivero.storage.state import load, row_bound

INSTANCES = 5
WORKING = model(start(), task("work"), task("beside"), "start > work", "start > beside")
WAITING = signal_model(start(), catch("wait", "signal"), end("heard"), "start > wait > heard", roots=(signal(),))
PAGE = DEFAULT_TENANT, "alarm", 0


def begun(file):
    serial = Serial()
    serial.deploy(file)
    for _ in range(INSTANCES):
        serial.start("p")
    return serial


@pytest.fixture
def at_most(monkeypatch):
    return lambda rows: monkeypatch.setattr(row_bound, "ROWS_A_LOAD", rows)


@pytest.mark.parametrize(("rows", "trees"), [(1, [1, 1, 1, 1, 1]), (4, [1, 1, 1, 1, 1]), (5, [2, 2, 1]), (11, [5])])
async def test_trees_are_loaded_as_far_as_the_bound_allows(connection, at_most, rows, trees):
    """In the order of the needs; at least one. Each has two elements."""
    serial = begun(WORKING)
    await save_serially(connection, serial)
    at_most(rows)
    jobs = {job.element.tree.key: key for key, job in serial.state.jobs.items()}
    order = sorted(jobs, reverse=True)
    needs = [Need(NeedKind.JOB, jobs[root]) for root in order]
    state, loaded = State(1), 0
    for count in trees:
        loaded += count
        left_out = (await load.fill(connection, state, needs)).left_out
        assert set(state.trees) == set(order[:loaded])
        assert left_out == set(needs[loaded:])


async def test_a_large_tree_is_loaded_whole_and_alone(connection, at_most):
    serial = begun(WORKING)
    await save_serially(connection, serial)
    at_most(1)
    first, second = [Need(NeedKind.INSTANCE, key) for key in list(serial.state.trees)[:2]]
    state = State(1)
    assert (await load.fill(connection, state, [first])).left_out == set()
    assert len(state.jobs) == 2
    assert (await load.fill(connection, state, [first, second])).left_out == set(), "what is loaded does not count"


async def test_a_page_of_a_signal_ends_where_the_bound_does(connection, at_most):
    serial = begun(WAITING)
    await save_serially(connection, serial)
    keys = sorted(serial.state.subscriptions)
    at_most(3)
    state = State(1)
    loaded = await load.fill(connection, state, [Need(NeedKind.SIGNAL, PAGE)])
    assert loaded.left_out == set()
    assert sorted(state.subscriptions) == keys[:2]
    assert state.loaded_pages == {PAGE: keys[1]}
    eviction.evict(state, 0)
    assert state.loaded_pages == {}, "its rows are not in memory any more"


async def test_a_page_behind_a_large_tree_waits(connection, at_most):
    serial = begun(WAITING)
    await save_serially(connection, serial)
    last = max(serial.state.trees)
    at_most(1)
    needs = [Need(NeedKind.INSTANCE, last), Need(NeedKind.SIGNAL, PAGE)]
    state = State(1)
    assert (await load.fill(connection, state, needs)).left_out == {needs[1]}
    assert PAGE not in state.loaded_pages
    assert (await load.fill(connection, state, needs)).left_out == set()
    assert state.loaded_pages[PAGE] == min(serial.state.subscriptions)


@pytest.fixture
def run(migrated, connection):
    """Has batches of commands worked off by a consumer that evicts everything in between, with what follows."""

    async def run_batches(serial, *batches):
        await pin_clock(connection)
        consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, batch_commands=100, poll_s=5)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, beat())
            for commands in batches:
                last = await append(connection, commands)
                while last is not None:
                    consumer.partition_duty.wake()
                    await observer.reached(last)
                    last = await command_log.forward(connection, 1, 100)
            nursery.cancel_scope.cancel()
        assert [outcome.rejection for outcome in observer.outcomes.values()] == [None] * len(observer.outcomes)
        return consumer.stats

    return run_batches


async def test_a_signal_reaches_all_however_short_its_pages(connection, at_most, run):
    at_most(1)
    serial = begun(WAITING)
    await run(serial, serial.commands, [(DEFAULT_TENANT, BroadcastSignal("alarm"))])
    states = await connection.execute("SELECT state, count(*)::int FROM process_instances GROUP BY state")
    assert states.rows == [("COMPLETED", INSTANCES)]


async def test_a_batch_takes_as_many_commands_as_are_loaded(connection, at_most, run):
    """The others follow; none is told that its job does not exist."""
    at_most(1)
    serial = begun(WORKING)
    completions = [(DEFAULT_TENANT, CompleteJob(key)) for key in serial.state.jobs]
    stats = await run(serial, serial.commands, completions)
    left = await connection.execute("SELECT count(*)::int FROM jobs WHERE ended_at IS NULL")
    assert left.rows == [(0,)]
    assert stats.batches >= 1 + INSTANCES
