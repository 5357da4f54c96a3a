"""A steady flow takes constant space: rows and pages of tables, indexes and logs."""

from functools import partial

import pytest

from tests.core.models import ONE_TASK
from tests.engine.whole_engine import START_MS, TENANT, WholeEngine
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append
from vivero.engine.jobs.execution import Execution
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.retention.history import EndedInstances
from vivero.node.chores import SESSION
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool

HOUR_MS = 3_600_000
ROUNDS, EACH = 36, 30
TABLES = ("process_instances", "element_instances", "jobs", "variables", "command_log", "event_log", "deleted_trees")
ROWS = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in TABLES)
PAGES = """
SELECT c.oid::regclass::text, pg_relation_size(c.oid) / current_setting('block_size')::int
FROM pg_class c LEFT JOIN pg_index x ON x.indexrelid = c.oid
WHERE coalesce(x.indrelid, c.oid)::regclass::text = ANY ($1) AND c.relkind IN ('r', 'i')
"""
PIECES = ("command_log_1_0", "event_log_1_0")


@pytest.mark.long
async def test_rows_and_pages_stay_level(migrated):
    """Nine days of six hours a round: instances stay for a day, logs for two. Half of the time fills, half is level."""
    rows, pages = [], []
    async with WholeEngine(migrated).running() as engine:
        await engine.deploy(ONE_TASK)
        pool = Pool(partial(_connect, migrated), 1)
        now = 0.0
        chore = EndedInstances(
            RetentionSettings(instances="P1D", log="P2D", catch_up=1e6), pool.connection, None, lambda: now
        )
        for number in range(ROUNDS):
            await engine.set_clock(START_MS + number * 6 * HOUR_MS)
            await one_round(engine)
            epoch = await engine.value("SELECT epoch FROM partitions WHERE id = 1")
            run = Run("id", "vivero.ended-instances", 0, None, None, 1, "lease", 0, 0, 0, epoch)
            await chore(Execution(run))
            now += 600
            await engine.connection.execute(f"VACUUM {', '.join(TABLES)}")
            rows.append(dict(await engine.rows(ROWS)))
            pages.append(dict(await engine.rows(PAGES, [*TABLES, *PIECES])))
        pool.close()
    level = ROUNDS // 2
    assert rows[level]["process_instances"] >= 4 * EACH
    assert rows[level]["event_log"] >= 8 * 2 * EACH
    for found, spare in ((rows, 0), (pages, 2)):
        for name in found[level]:
            early = max(each[name] for each in found[level : level + level // 2])
            late = max(each[name] for each in found[level + level // 2 :])
            assert late <= early + spare, f"{name}: {[each[name] for each in found]}"


def _connect(dsn, deadline):
    return driver.connect(dsn, name="vivero test chores", deadline=deadline, settings=SESSION)


async def one_round(engine):
    """Instances begin, and their jobs are completed."""
    await engine.create("p", EACH)
    keys = await engine.rows("SELECT job_key FROM jobs WHERE ended_at IS NULL")
    assert len(keys) == EACH
    appended = await engine.appender.append_all([Append(CompleteJob(key), TENANT) for (key,) in keys], deadline_s=10)
    await engine.until(lambda: engine.watermark >= appended[-1].position)
