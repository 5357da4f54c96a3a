"""Chores on PostgreSQL: those of a partition at its owner, in its term, whatever the engine's clock says."""

import pytest

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
            *("decision-instances", "deployed-files"),
        )
    }


def test_settings_of_chores_are_those_of_chores_only():
    types = {"vivero.x": JobTypeSettings(paused=True), "mail": JobTypeSettings(max_attempts=3)}
    made = dispatcher_settings(types)
    assert set(made.types) == {"vivero.x"}
    assert made.max_attempts == 0, "a chore never gives up"
