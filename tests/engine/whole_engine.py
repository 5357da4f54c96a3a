"""A whole engine in one nursery: appender, consumer and timers over PostgreSQL, under a clock that the test sets."""

import hashlib
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import trio

from tests.core.parsed_models import read_shared
from tests.eventually import GUARD_S, Changes
from vivero.core.bpmn.parser import parse
from vivero.core.commands.deployments import references_of
from vivero.core.records.catalogue import Deploy
from vivero.core.records.instances import CreateInstance
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.timers.settings import TimerSettings
from vivero.engine.timers.task import Timers
from vivero.storage.cluster import clock
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool
from vivero.storage.state.definitions import store_resources

TENANT = "<default>"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/tests"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
)
START_MS = 1_800_000_000_000
"""The pinned time at which an engine begins: 2027-01-15."""


def waits(expression, kind="timeDuration", id="p"):
    """A process that waits for one timer and ends."""
    return (
        f'{HEAD}<process id="{id}" isExecutable="true"><startEvent id="start"/><intermediateCatchEvent id="wait">'
        f"<timerEventDefinition><{kind}>{expression}</{kind}></timerEventDefinition></intermediateCatchEvent>"
        '<endEvent id="end"/><sequenceFlow id="a" sourceRef="start" targetRef="wait"/>'
        '<sequenceFlow id="b" sourceRef="wait" targetRef="end"/></process></definitions>'
    ).encode()


def starts(expression, kind="timeCycle", id="p", note=""):
    """A process that a timer starts, and that can be started by hand, too."""
    return (
        f'{HEAD}<process id="{id}" name="{note}" isExecutable="true"><startEvent id="byHand"/><startEvent id="byTimer">'
        f"<timerEventDefinition><{kind}>{expression}</{kind}></timerEventDefinition></startEvent>"
        '<endEvent id="end"/><sequenceFlow id="a" sourceRef="byTimer" targetRef="end"/>'
        '<sequenceFlow id="b" sourceRef="byHand" targetRef="end"/></process></definitions>'
    ).encode()


async def _read(content, name, _urgent):
    return parse(content, name)


async def _no_connection():
    raise AssertionError("its child does not run")


class WholeEngine:
    """The parts, and words for what tests do with them. `settled` waits for everything that was appended."""

    def __init__(self, dsn, settings=None, consumer_settings=None, definition_settings=None) -> None:
        self._dsn = dsn
        self.settings = settings or TimerSettings()
        self.ended = {}
        self.answers = {}
        self.changes = []
        self.watermark = 0
        self._commits = Changes()
        self.completions = Completions(_no_connection)
        """Serves those who wait for ends. Its child does not run."""
        connect = partial(driver.connect, dsn)
        self.pool = Pool(lambda deadline: driver.connect(dsn, name="vivero test", deadline=deadline), 2)
        self.definitions = DefinitionCache(self.pool.connection, definition_settings, _read)
        self.consumer = Consumer(
            lambda name: connect(name=name),
            "test",
            self.definitions,
            self,
            consumer_settings or ConsumerSettings(),
            timer_rules=self.settings.rules,
        )
        self.appender = Appender(
            lambda: connect(name="vivero test appender"),
            appended=lambda *_: self.consumer.partition_duty.wake(),
            offer_segment=lambda _partition, segment: self.consumer.partition_duty.take(segment),
            progress_of=lambda _partition: self.consumer.partition_duty.progress(),
            led_partitions=lambda: (1,) if self.consumer.partition_duty.leads else (),
        )
        self.timers = Timers(
            lambda: connect(name="vivero test timers"), self.appender, settings, 1, lambda: self.timers_lead()
        )
        self.timers_lead = lambda: self.consumer.partition_duty.leads
        """Whether the timers are told that their node leads."""
        self.connection: driver.Connection | None = None
        self.told_available = []
        """(job type, tenant, number) of jobs that workers may get, or whose leases have another end."""

    # ---- what the consumer tells

    def committed(self, partition, watermark, outcomes, ended):
        self.watermark = watermark
        self.answers |= {outcome.position: outcome for outcome in outcomes}
        self.ended |= {end.key: end.state for end in ended}
        self.completions.committed(partition, watermark, outcomes, ended)
        self.timers.committed(watermark)
        self._commits.tell()

    def available(self, type, tenant, count):
        self.told_available.append((type, tenant, count))

    def lease_new(self, _jobs, _now_ms):
        return ()

    def timers_changed(self, _partition, changes):
        self.changes.append(changes)
        self.timers.changed(changes)

    def inbox_filled(self, partition):
        self.appender.inbox_filled(partition)

    def leads(self, _partition, epoch):
        self.timers.term(epoch)

    # ---- running

    @asynccontextmanager
    async def running(self):
        """All three tasks, until the block ends: then they are cancelled wherever they are."""
        self.connection = await driver.connect(self._dsn, name="vivero test")
        try:
            async with trio.open_nursery() as nursery:
                for part in (self.appender, self.consumer, self.timers):
                    nursery.start_soon(part.run, Beat(SupervisionSettings()))
                yield self
                nursery.cancel_scope.cancel()
        finally:
            self.connection.close()
            self.pool.close()

    async def until(self, condition, within_s=GUARD_S):
        """Wait for a condition that only commits can make true."""
        await self._commits.until(condition, within_s=within_s)

    async def until_value(self, expected, query, *values, within_s=GUARD_S):
        """Wait for a commit after which a query gives this value."""
        await self._commits.until(
            lambda: self.value(query, *values), accept=lambda found: found == expected, within_s=within_s
        )

    async def run(self, command):
        """Append a command and wait for its answer."""
        appended = await self.appender.append(Append(command, TENANT), deadline_s=10)
        await self.until(lambda: appended.position in self.answers)
        return self.answers[appended.position]

    async def run_together(self, *commands):
        """The answers of commands that are appended together."""
        appended = await self.appender.append_all([Append(command, TENANT) for command in commands], deadline_s=10)
        await self.until(lambda: self.watermark >= appended[-1].position)
        return [self.answers[one.position] for one in appended]

    async def deploy(self, *contents):
        for number, content in enumerate(contents):
            reply = await self._deploy(f"{number}.bpmn", content)
        return [process["processDefinitionKey"] for process in reply["processes"]]

    async def deploy_form(self, content):
        """The key of the version."""
        (form,) = (await self._deploy("a.form", content))["forms"]
        return form["formKey"]

    async def _deploy(self, name, content):
        return await self.deploy_together({name: content})

    async def deploy_together(self, files):
        """The answer to one deployment of these files."""
        digests = []
        for content in files.values():
            sha = hashlib.sha256(content).hexdigest()
            await store_resources(self.connection, [(sha, content)])
            digests.append(sha)
        parsed = read_shared(files)
        assert not any(each.problems for each in parsed), parsed
        for sha, each in zip(digests, parsed, strict=True):
            self.definitions.put(sha, each)
        outcome = await self.run(Deploy(references_of(parsed, digests)))
        assert outcome.rejection is None, outcome.rejection
        return msgspec.json.decode(outcome.response)

    async def create(self, process_id="p", count=1, **variables):
        """Instances of a process, appended together."""
        raw = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in variables.items()}
        items = [Append(CreateInstance(process_id, variables=raw), TENANT)] * count
        appended = await self.appender.append_all(items, deadline_s=10)
        await self.until(lambda: self.watermark >= appended[-1].position)

    async def set_clock(self, at_ms):
        await clock.pin(self.connection, at_ms)
        self.timers.clock_changed()

    async def rows(self, query, *values):
        return (await self.connection.execute(query, values)).rows

    async def value(self, query, *values):
        return (await self.rows(query, *values))[0][0]
