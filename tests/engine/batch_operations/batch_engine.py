"""Helpers of the tests of batch operations: an engine, batches, and their figures."""

from contextlib import asynccontextmanager
from functools import partial
from itertools import count

from tests.core.models import ONE_TASK, end, process, start, sub, task
from tests.engine.whole_engine import WholeEngine
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob, FailJob
from vivero.engine.batch_operations.task import BatchOperations
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres import driver
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import CallerBounds, Creator, NewOperation

CANCEL, RESOLVE = batch_operations.CANCEL_PROCESS_INSTANCE, batch_operations.RESOLVE_INCIDENT
ANN = Creator("USER", "ann")
COUNTS = "total, completed, failed, skipped, canceled"
SCOPED = process(
    start(),
    sub("s", start("i"), task("work"), task("rest"), "i > work > rest"),
    task("after"),
    end(),
    "start > s > after > end",
)
"""A version of process `p` with several tasks."""
_requests = count(1)


async def everything(_connection, _creator, _type):
    """The rights of a creator who may change everything."""
    return CallerBounds()


def new(type=CANCEL, filter='{"processDefinitionId": "p"}', resource="process-instances", **more):
    """A batch to create. Each request is another one."""
    values = {"bounds": CallerBounds(), "request_key": f"request {next(_requests)}", "body_sha": b""} | more
    return NewOperation(type, resource, filter, values.pop("creator", ANN), **values)


def beat():
    return Beat(SupervisionSettings())


class BatchEngine(WholeEngine):
    """A whole engine with process `p` (one service task), and a task for batches that the test turns."""

    def batches(self, settings=None, rights=everything, appender=None, before_deletion=None):
        made = BatchOperations(
            partial(driver.connect, self._dsn, name="vivero test batches"),
            appender or self.appender, rights, lambda: self.consumer.partition_duty.leads, settings,
            before_deletion,
        )  # fmt: skip
        made.term(self.epoch)
        return made

    @asynccontextmanager
    async def running(self):
        async with super().running():
            await self.deploy(ONE_TASK)
            self.epoch = await self.value("SELECT epoch FROM partitions WHERE id = 1")
            yield self

    async def begin(self, *types, **more):
        """Create a batch; its key."""
        return (await batch_operations.create(self.connection, new(*types, **more))).key

    async def work(self, batches, until=("COMPLETED", "PARTIALLY_COMPLETED", "CANCELED", "FAILED")):
        """Turn until nothing is left to do, or batches have one of these states."""
        while await batches.run_once(self.connection, beat()) is not None:
            states = {state for (state,) in await self.rows("SELECT state FROM batch_operations")}
            if states <= set(until) and not await self.value("SELECT count(*) FROM batch_operations WHERE open"):
                return

    async def change(self, key, state):
        found = await batch_operations.status(self.connection, key)
        return await batch_operations.change(self.connection, key, found, state)

    async def counts(self, key):
        found = await self.rows(f"SELECT state, {COUNTS} FROM batch_operations WHERE batch_operation_key = $1", key)
        return found[0]

    async def items(self, key):
        """Key → state and error."""
        rows = await self.rows(
            "SELECT item_key, state, error FROM batch_operation_items WHERE batch_operation_key = $1", key
        )
        return {item: (state, error) for item, state, error in rows}

    async def instances(self, count):
        """Keys of new instances, which wait for their job."""
        await self.create("p", count)
        found = await self.rows("SELECT process_instance_key FROM process_instances ORDER BY 1 DESC LIMIT $1", count)
        return sorted(key for (key,) in found)

    async def complete(self, key):
        """Complete the only open job of an instance."""
        job = await self.value("SELECT job_key FROM jobs WHERE process_instance_key = $1 AND ended_at IS NULL", key)
        await self.run(CompleteJob(job))

    async def fail_jobs(self, keys):
        """Give the instances incidents: their jobs fail without retries."""
        found = await self.rows("SELECT job_key FROM jobs WHERE process_instance_key = ANY ($1)", keys)
        for (job,) in found:
            await self.run(FailJob(job, 0, message="no paper"))

    async def commands(self, intent):
        """Key of the subject → how many commands of this intent the log has."""
        rows = await self.rows("SELECT key, count(*)::int FROM command_log WHERE intent = $1 GROUP BY 1", intent)
        return dict(rows)


__all__ = ["CANCEL", "RESOLVE", "SCOPED", "BatchEngine", "CreateInstance", "beat", "everything", "new"]
