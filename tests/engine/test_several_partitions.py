"""Several partitions over PostgreSQL: what crosses between them arrives once, and nothing stays open."""

import json
from random import Random

import pytest

from tests.core.engine import raw
from tests.core.message_models import catch, message, model, publish, receive, signal, starts, throw
from tests.core.models import ONE_TASK, end, start, task
from tests.core.partitions.test_interleavings import CREATED, KEYS, MODELS, TTL_MS
from tests.engine.several_partitions import PartitionsEngine
from tests.rounds import few_and_many
from vivero.core.partitions.routes import slot_of
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.slots import MoveSlots
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import routes
from vivero.storage.log import command_log

ROOTS = (message(), signal())
LIVE = (
    "SELECT process_instance_key FROM process_instances WHERE ended_at IS NULL AND parent_process_instance_key IS NULL"
)


@pytest.fixture
async def engine(migrated):
    async with PartitionsEngine(migrated).running() as engine:
        yield engine


def key_of(engine, partition):
    return next(key for key in map(str, range(100)) if engine.routes.of_channel("<default>", key) == partition)


async def create(engine, at, process_id="p", **variables):
    outcome = await engine.run(CreateInstance(process_id, variables=raw(variables)), at=at)
    assert outcome.rejection is None, outcome.rejection
    return outcome.reply.process_instance_key


async def live(engine):
    return sorted(key for (key,) in await engine.rows(LIVE))


async def test_a_message_reaches_an_element_of_another_partition(engine):
    await engine.deploy(model(start(), receive(), end(), "start > receive > end", roots=ROOTS))
    instances = [await create(engine, at, k=key_of(engine, 4 - at)) for at in (1, 2, 3)]
    await engine.settled()
    for key, at in ((1, 2), (2, 3), (3, 1)):
        outcome = await engine.run(CorrelateMessage("hello", key_of(engine, key)), at=at)
        assert outcome.reply.process_instance_key in instances
    await engine.settled()
    assert await live(engine) == []
    assert await engine.rows("SELECT * FROM channel_subscriptions") == []


async def test_a_rejection_of_another_partition_is_read_from_the_event_log(engine):
    """A node that waits for it may not have seen it happen."""
    position = await engine.send(CancelInstance(3 << 51 | 5), at=2)
    await engine.until(lambda: position in engine.answers)
    stored = await command_log.outcome(engine.connection, position)
    assert stored is not None
    assert stored.rejection == engine.answers[position].rejection
    assert stored.rejection.code is RejectionCode.NOT_FOUND


async def test_a_signal_reaches_all_partitions_and_starts_one_instance(engine):
    await engine.deploy(
        model(start(), catch(on="signal"), end(), "start > catch > end", roots=ROOTS),
        model(starts(on="signal"), task("work"), end(), "start > work > end", id="q", roots=ROOTS),
    )
    for at in (1, 2, 3):
        await create(engine, at)
    await engine.run(BroadcastSignal("alarm"), at=2)
    await engine.settled()
    (started,) = await live(engine)
    assert started >> 51 == 2


async def test_an_instance_of_another_partition_is_never_loaded(engine):
    """The owner of a channel gets the key of a subscription, whose tree belongs to another partition."""
    await engine.deploy(model(start(), receive(), end(), "start > receive > end", roots=ROOTS))
    await create(engine, 2, k=key_of(engine, 1))
    await engine.settled()
    state = engine.duties[1].term._state
    assert state.channels
    assert not state.trees


async def test_the_latest_version_starts_everywhere_at_once(engine):
    await engine.deploy(ONE_TASK)
    for version in range(2, 8):
        (definition,) = await engine.deploy(ONE_TASK.replace(b"Process p", b"Process %d" % version))
        for at in (3, 1, 2):
            outcome = await engine.run(CreateInstance("p"), at=at)
            assert outcome.reply.process_definition_version == version
            assert outcome.reply.process_definition_key == int(definition)


async def test_the_latest_files_are_the_same_everywhere_at_once(engine):
    user_task = (
        '<userTask id="ask"><extensionElements><zeebe:userTask/><zeebe:formDefinition formId="ask"/>'
        "</extensionElements></userTask>"
    )
    linking = (
        '<serviceTask id="work"><extensionElements><zeebe:taskDefinition type="w"/><zeebe:linkedResources>'
        '<zeebe:linkedResource resourceId="note.md" resourceType="text"/></zeebe:linkedResources></extensionElements>'
        "</serviceTask>"
    )
    await engine.deploy(model(start(), user_task, linking, "start > ask", "start > work"))
    await engine.deploy_together({"note.md": b""})
    for number in range(3):
        key = await engine.deploy_form(b'{"id": "ask", "components": [], "n": %d}' % number)
        for at in (3, 1, 2):
            instance = await create(engine, at)
            query = "SELECT form_key FROM user_tasks WHERE process_instance_key = $1"
            await engine.until_value(key, query, instance)
    for text in (b"a", b"b"):
        (note,) = (await engine.deploy_together({"note.md": text}))["resources"]
        for at in (3, 1):
            linked = "SELECT headers::json ->> 'linkedResources' FROM jobs WHERE process_instance_key = $1"
            found = json.loads(await engine.value(linked, await create(engine, at)))
            assert [one["resourceKey"] for one in found] == [str(note["resourceKey"])]


async def test_a_definition_drains_until_no_partition_runs_it(engine):
    (definition,) = await engine.deploy(ONE_TASK)
    keys = [await create(engine, at) for at in (1, 2, 3)]
    await engine.run(DeleteResource(int(definition)))
    for key in keys:
        await engine.settled()
        assert await engine.value("SELECT state FROM process_definitions") == "DRAINING"
        await engine.run(CancelInstance(key))
    await engine.until_value("DELETED", "SELECT state FROM process_definitions")


async def test_a_thrown_message_completes_its_thrower(engine):
    await engine.deploy(
        model(start(), throw(on="message", extensions=publish()), end(), "start > throw > end", roots=ROOTS)
    )
    await create(engine, 2, k=key_of(engine, 3))
    await engine.settled()
    assert await live(engine) == []


class Traffic:
    """Random commands of clients with old and new routes, many at once."""

    def __init__(self, engine, seed) -> None:
        self.engine, self.random = engine, Random(seed)
        self.positions = []

    async def send(self, command):
        home = command.home("<default>", self.engine.routes)
        anywhere = self.random.choice(self.engine.routes.all)
        at = anywhere if home is None or self.random.random() < 0.3 else home
        self.positions.append(await self.engine.send(command, at=at))

    async def step(self):
        key, variables, draw = self.random.choice(KEYS), raw({"x": 1}), self.random.random()
        if draw < 0.45:
            await self.send(CreateInstance(self.random.choice(CREATED), variables=raw({"k": key})))
        elif draw < 0.7:
            name = self.random.choice(("hello", "hello", "go"))
            await self.send(PublishMessage(name, key, self.random.choice((0, TTL_MS)), None, variables))
        elif draw < 0.78:
            await self.send(CorrelateMessage("hello", key, variables))
        elif draw < 0.83:
            await self.send(BroadcastSignal("alarm", variables))
        elif draw < 0.92:
            for (job,) in await self.some("SELECT job_key FROM jobs WHERE ended_at IS NULL"):
                await self.send(CompleteJob(job))
        else:
            for (instance,) in await self.some(LIVE):
                await self.send(CancelInstance(instance))

    async def some(self, query):
        rows = sorted(await self.engine.rows(query))
        return [self.random.choice(rows)] if rows else []

    async def move(self):
        """Move some slots to a partition with a higher number, unless a move is under way."""
        engine = self.engine
        if await routes.moves(engine.connection):
            return 0
        engine.routes = await routes.read(engine.connection)
        slots = [slot_of("<default>", key) for key in KEYS]
        owner, to = engine.routes.owner_of(self.random.choice(slots)), self.random.randint(2, engine.count)
        if owner >= to:
            return 0
        moving = tuple(sorted({slot for slot in slots if engine.routes.owner_of(slot) == owner}))
        self.positions.append(await engine.send(MoveSlots(moving, to)))
        return 1


CORRELATED_TWICE = """
SELECT message_key, process_id FROM message_correlations GROUP BY message_key, process_id HAVING count(*) > 1
"""
UNLIKE = """
SELECT coalesce(c.subscription_key, s.subscription_key), c.state, s.state
FROM channel_subscriptions c
FULL JOIN (SELECT * FROM subscriptions WHERE kind = 'MESSAGE' AND ended_at IS NULL) s USING (subscription_key)
WHERE c.subscription_key IS NULL OR s.subscription_key IS NULL OR (c.state = 'CORRELATING' AND s.state = 'CREATED')
"""
OPEN = "SELECT (SELECT count(*) FROM channel_subscriptions) + (SELECT count(*) FROM start_locks)"


@pytest.mark.long
@few_and_many(1, 8)
@pytest.mark.parametrize("batch_commands", [1, 500])
async def test_slots_move_under_random_traffic(migrated, seed, count, batch_commands):
    moves = 0
    for one in range(seed, seed + count):
        async with PartitionsEngine(migrated, 3, ConsumerSettings(batch_commands=batch_commands)).running() as engine:
            await engine.connection.script("UPDATE slots SET partition_id = 1; UPDATE definitions_seq SET n = n + 1")
            await engine.deploy(*MODELS)
            traffic = Traffic(engine, one)
            for number in range(150):
                await traffic.step()
                if number % 10 == 0:
                    moves += await traffic.move()
            await engine.settled()
            await engine.until(lambda traffic=traffic, engine=engine: set(traffic.positions) <= set(engine.answers))
            assert not await routes.moves(engine.connection)
            assert await engine.rows(CORRELATED_TWICE) == [], f"seed {one}"
            assert await engine.rows(UNLIKE) == [], f"seed {one}"
    assert moves


@pytest.mark.long
@few_and_many(1, 8)
@pytest.mark.parametrize("batch_commands", [1, 500])
async def test_random_traffic_leaves_nothing_open(migrated, seed, count, batch_commands):
    async with PartitionsEngine(migrated, 3, ConsumerSettings(batch_commands=batch_commands)).running() as engine:
        await engine.deploy(*MODELS)
        for one in range(seed, seed + count):
            traffic = Traffic(engine, one)
            for _ in range(150):
                await traffic.step()
            await engine.settled()
            await engine.until(lambda traffic=traffic: set(traffic.positions) <= set(engine.answers))
            assert await engine.rows(CORRELATED_TWICE) == [], f"seed {one}"
            assert await engine.rows(UNLIKE) == [], f"seed {one}"
            while instances := await live(engine):  # the end of one may begin another one
                for instance in instances:
                    await traffic.send(CancelInstance(instance))
                await engine.settled()
            assert await engine.value(OPEN) == 0, f"seed {one}"
        assert await engine.value("SELECT count(*) FROM message_correlations") > 5 * count
