"""A move of slots goes on, whatever ends in the middle: commits, terms, and the command that raises the number."""

import pytest
import trio

from tests.core.engine import raw
from tests.core.message_models import message, model, receive
from tests.core.models import end, start
from tests.engine.several_partitions import PartitionsEngine
from tests.engine.test_several_partitions import OPEN, live
from vivero.core.partitions.routes import slot_of
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.core.records.slots import MoveSlots
from vivero.engine.cluster import partition_growth
from vivero.engine.cluster.partition_growth import NotRaised, raise_number
from vivero.storage.cluster import routes
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.postgres.queries import label

WAITS = model(start(), receive(), end(), "start > receive > end", roots=(message(),))
STEPS = 6
"""Changes of `slot_detours` in a move with two other partitions: each has to learn of it, hold and release."""
FAIL_ONCE = """
CREATE SEQUENCE steps;
CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('steps') = {step} THEN
        RAISE EXCEPTION 'step {step} fails' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fail_once AFTER INSERT OR UPDATE OR DELETE ON slot_detours DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fail_once();
"""
KEYS = [str(number) for number in range(40)]


async def waiting(engine):
    """Instances in all partitions that wait for a message, with the keys whose channels partition 1 owns."""
    await engine.deploy(WAITS)
    keys = [key for key in KEYS if engine.routes.of_channel("<default>", key) == 1]
    for number, key in enumerate(keys):
        await engine.run(CreateInstance("p", variables=raw({"k": key})), at=1 + number % engine.count)
    await engine.settled()
    return keys


async def move(engine, keys):
    """Move the channels to partition 3, while they get their messages from everywhere."""
    slots = tuple(sorted({slot_of("<default>", key) for key in keys}))
    await engine.send(MoveSlots(slots, 3))
    for number, key in enumerate(keys):
        await engine.send(PublishMessage("hello", key, 1_000_000, None, raw({})), at=1 + number % engine.count)
    await engine.until_moved(keys)


class MovesEngine(PartitionsEngine):
    """`interrupt()` hears of each commit of a partition."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.interrupt = lambda _partition: None

    def committed(self, partition, *arguments):
        super().committed(partition, *arguments)
        self.interrupt(partition)

    async def until_moved(self, keys):
        await self.settled()
        assert not await routes.moves(self.connection)
        known = await routes.read(self.connection)
        assert {known.of_channel("<default>", key) for key in keys} == {3}
        assert await live(self) == [], "each got its message"
        assert await self.value(OPEN) == 0
        assert await self.value("SELECT count(*) FROM inbox") == 0


@pytest.mark.long
@pytest.mark.parametrize("step", range(1, STEPS + 1))
async def test_a_step_whose_commit_fails_is_repeated(migrated, step):
    async with MovesEngine(migrated).running() as engine:
        keys = await waiting(engine)
        await engine.connection.script(FAIL_ONCE.format(step=step))
        await move(engine, keys)
        assert [str(error) for error in engine.errors if f"step {step} fails" in str(error)] != []


@pytest.mark.long
async def test_a_node_that_ends_after_each_step_is_followed_by_another(migrated):
    """Each term ends with its first commit, so each step is made by another one, which knows what the tables say."""
    async with MovesEngine(migrated).running() as engine:
        keys = await waiting(engine)
        engine.interrupt = lambda partition: engine.consumers[partition].close()
        await move(engine, keys)
        engine.interrupt = lambda _partition: None
        assert len(engine.errors) >= STEPS


@pytest.mark.long
@pytest.mark.parametrize(
    ("statement", "when"),
    [
        *[("COMMIT", when) for when in ("before", "after")],
        *[("command_log.append_fresh", when) for when in ("before", "after")],
        ("command_log.outcomes", "after"),
        ("routes.moves_under_way", "after"),
    ],
)
async def test_an_interrupted_raise_is_completed_by_the_next_one(migrated, monkeypatch, statement, when):
    """Its connection is lost at the last call of this name that it makes before the first move is complete."""
    monkeypatch.setattr(partition_growth, "LOOK_EVERY_S", 0.001)
    async with MovesEngine(migrated, 2, later=1).running() as engine:
        with pytest.raises(ConnectionLost):
            await raise_number(lose(await driver.connect(migrated), statement, when), 3, lambda _move: None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(raised, engine, migrated)
            await engine.until_value(3, "SELECT count(*) FROM partitions")
            engine.open(3)
        await engine.settled()
        assert not await routes.moves(engine.connection)
        owned = "SELECT partition_id, count(*) FROM slots GROUP BY 1 ORDER BY 1"
        assert (await engine.connection.execute(owned)).rows == [(1, 342), (2, 341), (3, 341)]


def lose(connection, statement, when):
    """Makes the connection be lost before or after the first call of a statement."""
    execute = connection.execute

    async def executing(query, *arguments, **options):
        if label(query) != statement:
            return await execute(query, *arguments, **options)
        if when == "after":
            await execute(query, *arguments, **options)
        connection.abort()
        raise ConnectionLost("the command was interrupted")

    connection.execute = executing
    return connection


async def raised(engine, dsn):
    """The command again. The server notices only after a moment that the first one has gone."""
    connection = await driver.connect(dsn)
    done = False
    while not done:
        try:
            await raise_number(connection, 3, lambda _move: None)
            done = True
        except NotRaised as error:
            if "another program is raising" not in str(error):
                raise
    connection.close()


async def test_a_move_that_an_interrupted_raise_has_left_in_the_log_is_not_an_error(migrated, monkeypatch):
    """The plan is older than the move, so the move is in the log twice."""
    async with MovesEngine(migrated).running() as engine:
        await engine.connection.script("UPDATE slots SET partition_id = 1; UPDATE definitions_seq SET n = n + 1")
        plan, stale = partition_growth.plan, await routes.read(engine.connection)
        connection = await driver.connect(migrated)
        await raise_number(connection, 3, lambda _move: None)
        plans = iter([stale])
        monkeypatch.setattr(partition_growth, "plan", lambda known, count: plan(next(plans, known), count))
        moves = []
        await raise_number(connection, 3, moves.append)
        connection.close()
        assert len(moves) == 1
        assert await engine.value("SELECT count(*) FROM event_log WHERE rejection IS NOT NULL") == 1
