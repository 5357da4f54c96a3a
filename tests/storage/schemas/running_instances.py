"""Process instances of every kind, made in a database by one version of the program and finished by a later one."""

import msgspec

from tests.core import event_models, message_models
from tests.core.listener_models import listening
from tests.core.models import end, flow, par, process, start, task, xor
from tests.engine.whole_engine import HEAD, START_MS, TENANT, WholeEngine, starts, waits
from vivero.core.records.base import Variables
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, UpdateJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.engine.appender.calls import Append
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.work import activation

HOUR_MS = 3_600_000
ITEMS = 24
MANY_ITEMS = 120
PAGED = ConsumerSettings(paged_from=12)
"""Loops over `ITEMS` items are paged."""
DEFERRED = ConsumerSettings(quantum_items=2)
"""A batch processes two items of a loop, and defers the others."""

REMINDER = "<timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition>"
DEADLINE = "<timerEventDefinition><timeDuration>PT6H</timeDuration></timerEventDefinition>"
CONDITION = "<conditionalEventDefinition><condition>=ready</condition></conditionalEventDefinition>"
USER_TASK = (
    f'{HEAD}<process id="decided" isExecutable="true"><startEvent id="start"/><userTask id="decide"><extensionElements>'
    '<zeebe:userTask/><zeebe:assignmentDefinition assignee="ann" candidateGroups="sales"/></extensionElements>'
    '</userTask><endEvent id="end"/><sequenceFlow id="a" sourceRef="start" targetRef="decide"/>'
    '<sequenceFlow id="b" sourceRef="decide" targetRef="end"/></process></definitions>'
).encode()

MODELS = (
    process(start(), task("first"), task("second"), end(), "start > first > second > end", id="jobs"),
    process(
        *(start(), par("fork"), task("left"), task("right"), par("join"), end()),
        *("start > fork > left > join > end", "fork > right > join"),
        id="joined",
    ),
    process(
        *(start(), xor("choice"), task("chosen"), end()),
        *("start > choice", flow("choice", "chosen", "=approved"), "chosen > end"),
        id="choices",
    ),
    message_models.model(start(), message_models.catch(), end(), "start > catch > end", id="waiting"),
    message_models.model(
        *(start(), task("guarded"), message_models.boundary("guarded", interrupting=False), end(), end("told")),
        *("start > guarded > end", "boundary > told"),
        id="guarding",
    ),
    message_models.model(
        *(start(), task("busy"), end()),
        message_models.event_sub(
            *("handler", task("handle"), end("handled"), "handler-start > handle > handled"), interrupting=False
        ),
        "start > busy > end",
        id="handling",
    ),
    message_models.model(
        *(message_models.starts(), task("begun"), end(), "start > begun > end"),
        id="started",
        roots=(message_models.message("begin", None),),
    ),
    message_models.model(start(), message_models.catch(on="signal"), end(), "start > catch > end", id="signalled"),
    process(start(), event_models.catch("catch", CONDITION), end(), "start > catch > end", id="conditional"),
    waits("PT1H", id="delayed"),
    starts("R2/PT1H", id="scheduled"),
    event_models.model(
        *(start(), task("watched"), event_models.boundary("reminder", "watched", REMINDER, interrupting=False)),
        *(event_models.on(DEADLINE, "late", end("lapsed"), "late-start > lapsed"), end(), end("reminded")),
        *("start > watched > end", "reminder > reminded"),
        id="watching",
    ),
    USER_TASK,
    event_models.model(start(), event_models.call("call", "jobs"), end(), "start > call > end", id="calling"),
    event_models.model(
        start(),
        event_models.loop(task("each"), item="item", output="=item", into="results"),
        end(),
        "start > each > end",
        id="loop",
    ),
    event_models.model(
        start(),
        event_models.loop(task("one"), item="item", output="=item", into="results", sequential=True),
        end(),
        "start > one > end",
        id="in_turn",
    ),
    event_models.model(
        start(),
        event_models.loop(event_models.script("step", "=item + 1", "sum"), item="item", output="=sum", into="sums"),
        end(),
        "start > step > end",
        id="many",
    ),
    listening(
        process(start(), task("work"), end(), "start > work > end", id="heard"), work=["start before", "end after"]
    ),
    event_models.model(
        *(start(), task("risky"), event_models.boundary("rescue", "risky", event_models.error("A")), end()),
        *(end("saved"), "start > risky > end", "rescue > saved"),
        id="rescued",
    ),
)

KINDS = {
    "a job that is ready": "SELECT count(*) FROM jobs WHERE ready",
    "a job with a lease": "SELECT count(*) FROM jobs WHERE lease_token IS NOT NULL AND ended_at IS NULL",
    "a job that waits for its retry": "SELECT count(*) FROM jobs WHERE NOT ready AND lease_token IS NULL"
    " AND available_at IS NOT NULL AND ended_at IS NULL",
    "a job of a listener": "SELECT count(*) FROM jobs WHERE kind = 'EXECUTION_LISTENER' AND ended_at IS NULL",
    "an incident of a job": "SELECT count(*) FROM incidents WHERE job_key IS NOT NULL AND resolved_at IS NULL",
    "an incident of an expression": "SELECT count(*) FROM incidents WHERE job_key IS NULL AND resolved_at IS NULL",
    "a timer event": "SELECT count(*) FROM timers WHERE type = 'INTERMEDIATE' AND state = 'PENDING'",
    "a timer on a boundary": "SELECT count(*) FROM timers WHERE type = 'BOUNDARY' AND state = 'PENDING'",
    "a timer that fired": "SELECT count(*) FROM timers WHERE type = 'BOUNDARY' AND state = 'TRIGGERED'",
    "a timer start event": "SELECT count(*) FROM timers WHERE type = 'START_EVENT' AND state = 'PENDING'",
    "a timer of an event sub-process": "SELECT count(*) FROM timers WHERE type = 'EVENT_SUB_PROCESS'",
    "a message that is buffered": "SELECT count(*) FROM messages",
    "a message subscription": "SELECT count(*) FROM channel_subscriptions",
    "a message start event": "SELECT count(*) FROM start_subscriptions WHERE kind = 'MESSAGE'",
    "a start lock": "SELECT count(*) FROM start_locks",
    "a correlated message": "SELECT count(*) FROM message_correlations",
    "a signal subscription": "SELECT count(*) FROM subscriptions WHERE kind = 'SIGNAL' AND ended_at IS NULL",
    "a condition that is awaited": "SELECT count(*) FROM subscriptions WHERE kind = 'CONDITION' AND ended_at IS NULL",
    "a user task": "SELECT count(*) FROM user_tasks WHERE ended_at IS NULL",
    "a called process": "SELECT count(*) FROM process_instances"
    " WHERE parent_process_instance_key IS NOT NULL AND ended_at IS NULL",
    "a token at a join": "SELECT count(*) FROM element_instances e WHERE element_id = 'right' AND ended_at IS NULL"
    " AND EXISTS (SELECT FROM element_instances o WHERE o.process_instance_key = e.process_instance_key"
    " AND o.element_id = 'left' AND o.ended_at IS NOT NULL)",
    "an event sub-process": "SELECT count(*) FROM element_instances WHERE element_type = 'EVENT_SUB_PROCESS'"
    " AND ended_at IS NULL",
    "a loop": "SELECT count(*) FROM loop_items",
    "a paged loop": "SELECT count(*) FROM paged_loop_items",
    "deferred work": "SELECT count(*) FROM process_instances WHERE work IS NOT NULL AND ended_at IS NULL",
    "a command that is not processed": "SELECT count(*) FROM command_log"
    " WHERE position > (SELECT max(to_pos) FROM batches)",
    "a completed instance": "SELECT count(*) FROM process_instances WHERE state = 'COMPLETED'",
    "a canceled instance": "SELECT count(*) FROM process_instances WHERE state = 'TERMINATED'",
    "an idempotency key": "SELECT count(*) FROM idempotency_keys",
}
"""Queries that count what a database must hold: each at least one."""

REMAINS = {
    "process_instances": "ended_at IS NULL",
    "element_instances": "ended_at IS NULL",
    "jobs": "ended_at IS NULL",
    "user_tasks": "ended_at IS NULL",
    "subscriptions": "ended_at IS NULL",
    "incidents": "resolved_at IS NULL",
    "timers": "state = 'PENDING'",
    "channel_subscriptions": "true",
    "start_locks": "true",
    "inbox": "true",
}
"""Rows that no table has when all instances have ended."""


async def make(dsn):
    """Make the instances in an empty database that has the schema."""
    engine = WholeEngine(dsn, consumer_settings=PAGED)
    async with engine.running():
        await engine.set_clock(START_MS)
        await engine.deploy(*MODELS)
        await _make_jobs(engine)
        await _make_waits(engine)
        await _make_loops(engine)
    engine = WholeEngine(dsn, consumer_settings=DEFERRED)
    async with engine.running():
        await engine.appender.append(Append(_many(), TENANT), deadline_s=10)
        await engine.until_value(1, KINDS["deferred work"])
    await _append_unprocessed(dsn)


def values(**variables) -> Variables:
    """The variables of a command."""
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in variables.items()}


def _many():
    return CreateInstance("many", variables=values(items=list(range(MANY_ITEMS))))


async def _create(engine, process_id, **variables):
    before = await _keys(engine)
    await engine.run(CreateInstance(process_id, variables=variables))
    (key, *_) = sorted(set(await _keys(engine)) - set(before))
    return key


async def _keys(engine):
    return [key for (key,) in await engine.rows("SELECT process_instance_key FROM process_instances")]


async def _job(engine, instance, type=None):
    query = (
        "SELECT job_key FROM jobs WHERE process_instance_key = $1 AND ended_at IS NULL AND type = coalesce($2, type)"
    )
    return await engine.value(query, instance, type)


async def _make_jobs(engine):
    await _create(engine, "jobs", text="ä" * 100, number=1)
    ask = activation.ActivationRequest("first", TENANT, 1, 10 * HOUR_MS, "a worker")
    assert (await activation.activate(engine.connection, ask, 1_000_000)).leases
    for arguments in {"retries": 1, "backoff_ms": HOUR_MS}, {"retries": 0, "message": "no more retries"}:
        instance = await _create(engine, "jobs")
        await engine.run(FailJob(await _job(engine, instance), **arguments))
    completed, canceled = await _create(engine, "jobs"), await _create(engine, "jobs")
    for type in "first", "second":
        await engine.run(CompleteJob(await _job(engine, completed, type), values(done=True)))
    await engine.run(CancelInstance(canceled))
    joined = await _create(engine, "joined")
    await engine.run(CompleteJob(await _job(engine, joined, "left")))
    heard = [await _create(engine, "heard") for _ in range(3)]
    for instance, types in zip(heard, ((), ("before",), ("before", "work")), strict=True):
        for type in types:
            await engine.run(CompleteJob(await _job(engine, instance, type)))
    for process_id in "jobs", "choices", "rescued", "decided", "calling":
        await _create(engine, process_id)
    item = Append(CreateInstance("jobs"), TENANT, idempotency=("asked once", b"a" * 32))
    await engine.appender.append(item, deadline_s=10)


async def _make_waits(engine):
    for process_id in "waiting", "guarding", "handling":
        await _create(engine, process_id, k=process_id)
    for key in "guarding", "handling":
        await engine.run(PublishMessage("hello", key))
    await engine.run(PublishMessage("hello", "buffered", 100 * HOUR_MS, "its id", values(told=[1, 2])))
    await engine.run(PublishMessage("begin", "locked"))
    await engine.run(PublishMessage("begin", "locked", 100 * HOUR_MS))
    for process_id in "signalled", "watching", "conditional":
        await _create(engine, process_id)
    await engine.set_clock(START_MS + HOUR_MS)
    await engine.until_value(0, DUE)
    await _create(engine, "delayed")


async def _make_loops(engine):
    await _create(engine, "in_turn", items=[1, "two", {"three": 3}])
    await _create(engine, "loop", items=[1, 2, 3])
    await _create(engine, "loop", items=list(range(ITEMS)))
    await engine.until_value(0, KINDS["deferred work"])


async def _append_unprocessed(dsn):
    """A command that the engine has not seen, and one that is on its way in the inbox."""
    engine = WholeEngine(dsn)
    engine.consumer = engine.timers = Idle()
    async with engine.running():
        await engine.appender.append(Append(CreateInstance("jobs"), TENANT), deadline_s=10)


class Idle:
    """A consumer, or timers, that do nothing."""

    leads = False

    @property
    def partition_duty(self):
        return self

    def progress(self):
        return None

    def wake(self):
        pass

    def take(self, _segment):
        pass

    async def run(self, _beat):
        pass


DUE = "SELECT count(*) FROM timers WHERE state = 'PENDING' AND due_at_ms <= (SELECT to_epoch_ms(clock_now()))"


async def nothing(_bench):
    """The change between two steps."""


async def finish(engine, between=nothing):
    """Bring all instances to their end, as workers, people and other programs would."""
    await engine.until_value(0, KINDS["a command that is not processed"])
    await engine.until_value(0, KINDS["deferred work"])
    await engine.run(CreateInstance("waiting", variables=values(k="buffered")))
    for _ in range(ROUNDS):
        for step in _advance, _resolve, _complete, _tell:
            await step(engine)
            await between(engine)
        await engine.until_value(0, KINDS["deferred work"])
        if await engine.value("SELECT count(*) = 0 FROM process_instances WHERE ended_at IS NULL"):
            # Quanta between commands may have ended an instance before a command that continues it.
            await engine.until_value(0, "SELECT count(*) FROM inbox")
            return


ROUNDS = 40
"""More than the sequential loop and the timers need."""


async def _advance(engine):
    await engine.set_clock(await engine.value("SELECT to_epoch_ms(clock_now())") + HOUR_MS)
    await engine.until_value(0, DUE)


async def _resolve(engine):
    for key, job, instance in await engine.rows(
        "SELECT incident_key, job_key, process_instance_key FROM incidents WHERE resolved_at IS NULL"
    ):
        await _run(engine, SetVariables(instance, values(approved=True)) if job is None else UpdateJob(job, retries=1))
        await _run(engine, ResolveIncident(key))


async def _complete(engine):
    for (key,) in await engine.rows("SELECT user_task_key FROM user_tasks WHERE ended_at IS NULL"):
        await _run(engine, CompleteUserTask(key))
    for (key,) in await engine.rows("SELECT job_key FROM jobs WHERE ended_at IS NULL ORDER BY job_key"):
        await engine.run(CompleteJob(key))  # one that another job has canceled meanwhile is rejected


async def _tell(engine):
    for name, key in await engine.rows("SELECT name, correlation_key FROM channel_subscriptions"):
        await _run(engine, PublishMessage(name, key))
    for (name,) in await engine.rows(
        "SELECT DISTINCT name FROM subscriptions WHERE kind = 'SIGNAL' AND ended_at IS NULL"
    ):
        await _run(engine, BroadcastSignal(name))

    for (instance,) in await engine.rows("SELECT process_instance_key FROM subscriptions WHERE " + CONDITIONS):
        await _run(engine, SetVariables(instance, values(ready=True)))


CONDITIONS = "kind = 'CONDITION' AND ended_at IS NULL"


async def _run(engine, command):
    outcome = await engine.run(command)
    assert outcome.rejection is None, (command, outcome.rejection)
