"""The metrics of two programs under load add up to the ledger: the log and the tables, also after kill -9."""

from collections import Counter

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import settled
from tests.process.conftest import UNSAFE
from tests.process.load import Load
from tests.process.metrics import metrics
from tests.process.test_two_programs import leader_first

LEDGER = """
    SELECT 'command ' || intent, count(*) FROM command_log GROUP BY intent
    UNION ALL SELECT 'rejected', count(*) FROM event_log WHERE seq = 0 AND rejection IS NOT NULL
    UNION ALL SELECT 'ended ' || state, count(*) FROM process_instances WHERE ended_at IS NOT NULL GROUP BY state
    UNION ALL SELECT 'jobs created', count(*) FROM jobs
    UNION ALL SELECT 'jobs ' || lower(state), count(*) FROM jobs WHERE ended_at IS NOT NULL GROUP BY state"""

pytestmark = pytest.mark.long


@pytest.fixture
def unsafe():
    return UNSAFE | {"VIVERO_METRICS_DATABASE_EVERY_S": "1"}


def ledger(dsn):
    """The sums in PostgreSQL, without zeros."""
    with psycopg.connect(dsn) as connection:
        return Counter({name: count for name, count in connection.execute(LEDGER) if count})


async def sums(*programs):
    """The same from metrics, added up over programs."""
    found = Counter()
    for program in programs:
        shown = await metrics(program)
        for one in shown.all:
            if one.name == "vivero_commands_total":
                found["command " + one.labels["intent"]] += one.value
                if one.labels["outcome"] == "rejected":
                    found["rejected"] += one.value
            elif one.name == "vivero_instances_ended_total":
                found["ended " + one.labels["state"]] += one.value
            elif one.name in ("vivero_jobs_created_total", "vivero_jobs_completed_total", "vivero_jobs_canceled_total"):
                found[one.name.removeprefix("vivero_").removesuffix("_total").replace("_", " ")] += one.value
    return +found


async def worked(load, dsn, answers, meanwhile=None):
    """Let the load run for so many answers, and wait until everything is processed."""
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(answers)
        if meanwhile is not None:
            await meanwhile(load)
        await load.stop_creating()
        await settled(dsn)
        nursery.cancel_scope.cancel()


def load_of(pair, first=1):
    return Load([program.port for program in pair], workers=4, first=first)


async def test_the_sums_of_two_programs_agree_with_the_ledger(pair, database):
    deployed = ledger(database)
    assert await sums(*pair) == deployed
    quiet = load_of(pair)
    await worked(quiet, database, 300)
    assert await sums(*pair) == (before := ledger(database))
    appends = [(await metrics(program)).sum("vivero_appends_total") for program in pair]
    assert sum(appends) == sum(count for name, count in before.items() if name.startswith("command "))
    assert min(appends) > 50, "both programs have taken commands"

    leader, _ = await leader_first(pair)
    lost = await sums(leader)
    killed = Counter()

    async def kill(load):
        await leader.kill()
        killed.update(ledger(database))
        await load.progress(50)
        await leader.restart()
        await load.progress(100)

    await worked(load_of(pair, first=100_001), database, 100, kill)
    after = await sums(*pair) + lost
    missing = ledger(database) - after
    assert after - ledger(database) == Counter(), "nothing is counted twice"
    assert missing - (killed - before) == Counter(), "only what the killed program did after its last answer is missing"
    assert missing, "the killed program has worked"

    begun, at = await sums(*pair), ledger(database)
    await worked(load_of(pair, first=200_001), database, 200)
    assert (await sums(*pair)) - begun == ledger(database) - at

    async def nothing_waits():
        shown = [await metrics(program) for program in pair]
        gauges = ("vivero_log_lag", "vivero_instances_running")
        return [sum(each.sum(name) for each in shown if name in each.names) for name in gauges] == [0, 0] and all(
            any(name in each.names for each in shown) for name in gauges
        )

    await eventually(nothing_waits, "the gauges are at rest", every_s=0.2)
