"""Fixtures of the tests of background jobs on PostgreSQL."""

import pytest

from tests.eventually import eventually
from vivero.engine.jobs.definitions import JobRegistry
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.jobs.execution import Execution
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.span_names import no_spans
from vivero.engine.retention.chores import ChoreSettings, of_database, of_partitions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.node.chores import SESSION
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.pool import Pool


@pytest.fixture
def pool(connect):
    made = Pool(lambda deadline: connect(deadline=deadline), 10)
    yield made
    made.close()


@pytest.fixture
def dispatcher(connect, pool):
    """Makes the dispatcher of a node."""

    def make(*jobs, node="a", chores=False, spans=no_spans, connects=connect, **settings):
        registry = JobRegistry.of(jobs)
        return JobDispatcher(connects, pool.connection, node, registry, JobSettings(**settings), chores, spans)

    return make


@pytest.fixture
def do_chore(connection, connect):
    """Does a chore of a partition until nothing is left, as the partition's owner in its term."""
    pool = Pool(lambda deadline: connect(deadline=deadline, settings=SESSION), 1)

    async def do(name, partition=1, epoch=None, lends=pool.connection, **settings):
        made = ChoreSettings(**settings)
        known = {**of_partitions(made, lends).definitions, **of_database(made, lends).definitions}
        term = (await connection.execute("SELECT epoch FROM partitions WHERE id = $1", (partition,))).rows
        run = Run("id", name, 0, None, None, partition, "lease", 0, 0, 0, term[0][0] if epoch is None else epoch)
        await known[f"vivero.{name}"].handler(Execution(run))

    yield do
    pool.close()


@pytest.fixture
def rows(connection):
    """Reads the executions, the oldest first."""

    async def read(columns="job_type, state, attempt_index"):
        query = f"SELECT {columns} FROM job_executions ORDER BY created_at, id"
        return [tuple(row) for row in (await connection.execute(query)).rows]

    return read


@pytest.fixture
def until(rows):
    """Waits until the executions are as expected."""

    async def wait(expected, columns="job_type, state, attempt_index"):
        await eventually(lambda: rows(columns), accept=lambda found: found == expected)

    return wait


@pytest.fixture
async def beat():
    return Beat(SupervisionSettings())
