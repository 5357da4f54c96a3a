"""Chores on PostgreSQL: those of a partition at its owner, in its term, whatever the engine's clock says."""

from functools import partial
from operator import eq

import pytest
import trio

from tests.engine.consumer.serial_runs import pin_clock
from tests.eventually import eventually
from vivero.engine.jobs import schedules
from vivero.engine.jobs.definitions import JobDefinition, Runs
from vivero.engine.jobs.type_settings import JobTypeSettings
from vivero.engine.retention.chores import ChoreSettings, dispatcher_settings, of_database, of_partitions

QUICK = {"poll_interval": "PT0.02S"}


@pytest.fixture
async def own(connection):
    """Lets a node own a partition, in a new term."""
    await connection.script("SELECT make_partition(2)")

    async def own(partition, node):
        await connection.execute(
            "UPDATE partitions SET owner_node = $2, epoch = epoch + 1, lease_until = clock_timestamp() + interval '1 h'"
            " WHERE id = $1",
            (partition, node),
        )

    return own


@pytest.fixture
def chore():
    """Makes the chore of a node that notes where it runs, in which term."""

    def make(node, seen, by_partition=True):
        async def run(execution):
            seen.add((node, execution.partition, execution.epoch))

        return JobDefinition("vivero.x", run, Runs.TRIO, schedule=schedules.every("PT0.01S"), by_partition=by_partition)

    return make


async def test_a_chore_of_a_partition_runs_at_its_owner_in_its_term(own, chore, dispatcher, nursery, beat):
    seen = set()
    await own(1, "a")
    await own(2, "b")
    for node in "ab":
        nursery.start_soon(dispatcher(chore(node, seen), node=node, chores=True, **QUICK).run, beat)
    await eventually(lambda: len(seen), accept=lambda found: found == 2)
    assert seen == {("a", 1, 1), ("b", 2, 1)}
    await own(2, "a")
    await eventually(lambda: seen, accept=lambda found: ("a", 2, 2) in found)
    assert seen == {("a", 1, 1), ("b", 2, 1), ("a", 2, 2)}


async def test_a_partition_that_nobody_owns_is_left_alone_and_costs_no_turns(
    own, chore, dispatcher, nursery, beat, connection
):
    seen = set()
    await own(1, "a")
    await own(2, "gone")
    await connection.script("UPDATE partitions SET lease_until = clock_timestamp() - interval '1 s' WHERE id = 2")
    made = dispatcher(chore("a", seen), node="a", chores=True, poll_interval="PT60S")
    nursery.start_soon(made.run, beat)
    await eventually(lambda: made.figures.completed, accept=lambda found: found > 5)
    assert seen == {("a", 1, 1)}


@pytest.mark.parametrize("now_ms", [0, 4_000_000_000_000])
async def test_chores_run_while_the_engines_clock_stands_still(
    now_ms, own, chore, dispatcher, nursery, beat, connection
):
    await pin_clock(connection, now_ms)
    made = dispatcher(chore("a", set(), by_partition=False), node="a", chores=True, **QUICK)
    nursery.start_soon(made.run, beat)
    await eventually(lambda: made.figures.completed, accept=lambda found: found > 2)


async def test_a_new_partition_gets_its_executions_while_the_dispatcher_runs(
    own, chore, dispatcher, nursery, beat, connection
):
    seen = set()
    await own(1, "a")
    settings = {"stale_threshold": "PT0.04S", "keep_alive_interval": "PT0.04S"}
    nursery.start_soon(dispatcher(chore("a", seen), node="a", chores=True, **QUICK, **settings).run, beat)
    await eventually(lambda: seen)
    await connection.script("SELECT make_partition(3)")
    await own(3, "a")
    await eventually(lambda: seen, accept=lambda found: ("a", 3, 1) in found)


@pytest.fixture
def held_chores(connection, dispatcher, nursery, beat):
    """Starts the dispatcher of two chores that are due now and not again for an hour, and waits until both run.

    Nothing makes it turn for a long time. Each chore ends when its event is set, and fails if that is asked for.
    """
    ends = {"vivero.x": trio.Event(), "vivero.y": trio.Event()}
    rare = {"poll_interval": "PT100S", "keep_alive_interval": "PT500S", "stale_threshold": "PT500S"}

    def held(name, fails):
        async def run(_execution):
            await ends[name].wait()
            if fails:
                raise ValueError("as asked for")

        return JobDefinition(name, run, Runs.TRIO, schedule=schedules.every("PT1H"))

    async def start(fails=False, **settings):
        chores = [held(name, fails) for name in ends]
        made = dispatcher(*chores, node="a", chores=True, max_attempts=0, **rare, **settings)
        nursery.start_soon(made.run, beat)
        await eventually(lambda: made.figures.turns, accept=lambda turns: turns > 0)
        await connection.script("UPDATE job_executions SET execute_at = '2000-01-01'")
        made.wake()
        return made, ends

    return start


async def end_both(made, ends):
    """Ends one chore after the other."""
    await eventually(lambda: made.running, accept=lambda running: running == 2)
    for left, event in zip((1, 0), ends.values(), strict=True):
        event.set()
        await eventually(lambda: made.running, accept=partial(eq, left))


@pytest.mark.parametrize("turn", ["wake", "drain"])
async def test_ends_of_chores_wait_for_the_next_turn_which_writes_them_together(turn, held_chores, until, rows):
    made, ends = await held_chores()
    await end_both(made, ends)
    turns = made.figures.turns
    assert await rows("state") == [("running",), ("running",)]
    getattr(made, turn)()
    await until([("pending",), ("pending",)], "state")
    await eventually(lambda: made.figures.completed, accept=partial(eq, 2))  # noted behind the commit
    assert made.figures.turns == turns + 1


async def test_a_chore_that_fails_waits_for_no_turn(held_chores, until):
    made, ends = await held_chores(fails=True, initial_interval="PT1H")
    await end_both(made, ends)
    await until([("pending", 1), ("pending", 1)], "state, attempt_index")


async def test_a_chore_that_ends_makes_place_for_one_that_is_due(held_chores, until, rows):
    made, ends = await held_chores(min_concurrent=1, max_concurrent=1)
    await eventually(lambda: made.running, accept=lambda running: running == 1)
    for event in ends.values():
        event.set()
    await eventually(lambda: made.figures.started, accept=lambda started: started == 2)
    await eventually(lambda: made.running, accept=lambda running: running == 0)
    await until([("pending",), ("pending",)], "state")


def test_each_chore_has_its_name_and_place():
    def connections():
        raise AssertionError("nobody asks")

    of_one = of_partitions(ChoreSettings(), connections).definitions
    of_all = of_database(ChoreSettings(), connections).definitions
    assert all(each.by_partition for each in of_one.values())
    assert not any(each.by_partition for each in of_all.values())
    assert {each.type for each in (*of_one.values(), *of_all.values())} == {
        f"vivero.{name}"
        for name in (
            *("expired-messages", "log-partitions", "element-counts", "log-cursor", "variable-values"),
            "ended-subscriptions",
            *("message-correlations", "ended-timers", "idempotency-keys", "audit-log", "ended-instances"),
            *("failed-executions", "usage-days", "usage-metrics"),
            *("decision-instances", "deployed-files", "usual-durations", "transaction-outcomes"),
        )
    }


def test_settings_of_chores_are_those_of_chores_only():
    types = {"vivero.x": JobTypeSettings(paused=True), "mail": JobTypeSettings(max_attempts=3)}
    made = dispatcher_settings(types)
    assert set(made.types) == {"vivero.x"}
    assert made.max_attempts == 0, "a chore never gives up"
