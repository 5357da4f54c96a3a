"""A whole engine with several partitions in one nursery: one appender, and a consumer for each partition."""

from contextlib import asynccontextmanager
from functools import partial

import trio

from tests.engine.consumer.serial_runs import keep_leading
from tests.engine.whole_engine import TENANT, WholeEngine
from vivero.core.partitions.routes import ONE_PARTITION
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.cluster.assignment import Duty
from vivero.engine.cluster.partition_duties import PartitionDuties
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.timers.task import Timers
from vivero.storage.cluster import leadership, routes
from vivero.storage.postgres import driver

POLL_S = 0.05
"""The command that raises the number of partitions appends to logs, and tells no consumer. So consumers look often."""


class PartitionsEngine(WholeEngine):
    """As an `WholeEngine`. Commands go to their homes, new work to the partition that a test names."""

    def __init__(self, dsn, count=3, consumer_settings=None, later=0) -> None:
        """`later`: partitions that are made, and opened, later on."""
        super().__init__(dsn)
        self.count = count
        self.errors = []
        """Why terms ended."""
        self.routes = ONE_PARTITION
        numbers = range(1, count + later + 1)
        connect = partial(driver.connect, dsn)
        self.duties = duties = PartitionDuties(numbers)
        for one in numbers:
            duties[one].assignment.set(Duty.OURS)
        self.appender = Appender(
            lambda: connect(name="vivero test appender"),
            appended=lambda partition, _position: duties.wake(partition),
            offer_segment=duties.take,
            progress_of=duties.progress_of,
            led_partitions=duties.led,
        )
        self.consumers = {
            one: Consumer(
                self.named(dsn, one), "test", self.definitions, self,
                consumer_settings or ConsumerSettings(poll_s=POLL_S), one, partition_duty=duties[one],
            )
            for one in numbers
        }  # fmt: skip
        self.all_timers = {
            one: Timers(
                partial(self.connect_of(dsn, one), name="vivero test timers"),
                self.appender,
                None,
                one,
                partial(duties.leads, one),
            )
            for one in numbers
        }

    def connect_of(self, dsn, partition):
        """The connections of the consumer and the timers of a partition."""
        return partial(driver.connect, dsn)

    def named(self, dsn, partition):
        """The same, for connections whose names the consumer gives."""
        connect = self.connect_of(dsn, partition)
        return lambda name: connect(name=name)

    # ---- what the consumers tell

    def committed(self, partition, watermark, outcomes, ended):
        self.timers = self.all_timers[partition]
        super().committed(partition, watermark, outcomes, ended)
        self.appender.processed(partition)

    def timers_changed(self, partition, changes):
        self.all_timers[partition].changed(changes)

    def leads(self, partition, epoch):
        self.all_timers[partition].term(epoch)

    # ---- running

    @asynccontextmanager
    async def running(self):
        self.connection = await driver.connect(self._dsn, name="vivero test")
        await leadership.create(self.connection, self.count)
        self.routes = await routes.read(self.connection)
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self.appender.run, Beat(SupervisionSettings()))
                for partition in range(1, self.count + 1):
                    self.open(partition)
                yield self
                nursery.cancel_scope.cancel()
        finally:
            self.connection.close()
            self.pool.close()

    def open(self, partition):
        """Lead a partition. Terms that end with an error of PostgreSQL are followed by others."""
        self._nursery.start_soon(keep_leading, self.consumers[partition], self.errors)
        self._nursery.start_soon(self.all_timers[partition].run, Beat(SupervisionSettings()))

    async def send(self, command, at=None, idempotency=None):
        """Append a command at a partition, by default its home, or the first one. Its position."""
        partition = at or command.home(TENANT, self.routes) or 1
        item = Append(command, TENANT, idempotency=idempotency, partition=partition)
        return (await self.appender.append(item, deadline_s=10)).position

    async def run(self, command, at=None):
        position = await self.send(command, at)
        await self.until(lambda: position in self.answers)
        return self.answers[position]

    async def settled(self):
        """Wait until nothing is on its way any more."""
        await self.until_value(
            0,
            "SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM command_log l WHERE position > "
            "(SELECT max(to_pos) FROM batches b WHERE b.partition_id = l.partition_id))",
        )
