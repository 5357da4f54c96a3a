"""What tests of background jobs on PostgreSQL share."""

import pytest
import trio

from vivero.engine.jobs.definitions import JobRegistry
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.supervision.settings import SupervisionSettings
from vivero.storage.postgres.pool import Pool


@pytest.fixture
def pool(connect):
    made = Pool(lambda deadline: connect(deadline=deadline), 10)
    yield made
    made.close()


@pytest.fixture
def dispatcher(connect, pool):
    """Makes the dispatcher of a node."""

    def make(*jobs, node="a", **settings):
        return JobDispatcher(connect, pool.connection, node, JobRegistry.of(jobs), JobSettings(**settings))

    return make


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
        with trio.move_on_after(20):
            while await rows(columns) != expected:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert await rows(columns) == expected

    return wait


@pytest.fixture
async def beat():
    return Beat(SupervisionSettings())
