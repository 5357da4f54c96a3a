"""New commands wait outside of a full log, and are refused in time; commands of running work never are."""

import pytest
import trio
import trio.testing

from tests.eventually import GUARD_S, eventually
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append
from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.cluster import leadership
from vivero.storage.log.command_log import Appended

SECONDS = 20.0
CREATED = CreateInstance.intent
COMPLETE = Append(CompleteJob(key=1), "t", key=1)
CREATE = Append(CreateInstance(process_id="p"), "t")


def died(message):
    pytest.fail(f"the process would have ended: {message}")


class Engine:
    """Played: it is at `position`."""

    def __init__(self, position: "int | None" = 1 << 51) -> None:
        self.position = position

    def consumed(self, partition):
        return None if self.position is None else LogProgress(self.position, 1e6)


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def start(connect, nursery, engine):
    """An appender at work, with room for so many new commands."""

    async def start(new_least, **settings):
        room = AppenderSettings(new_least=new_least, new_most=new_least, **settings)
        appender = Appender(connect, room, progress_of=engine.consumed)
        child = Child("appender", appender.run, close=appender.close, drain=appender.drain)
        nursery.start_soon(Supervisor([child], None, died).run)
        return appender

    return start


async def intents(connection):
    return [row[0] for row in (await connection.execute("SELECT intent FROM command_log ORDER BY position")).rows]


async def collect(answers, appender, item):
    try:
        answers.append(await appender.append(item, deadline_s=SECONDS))
    except Overloaded as error:
        answers.append(error)


async def test_what_runs_is_appended_before_what_is_new(start, connection, nursery, engine):
    appender, answers = await start(2, new_wait_s=SECONDS), []
    for _ in range(5):
        nursery.start_soon(collect, answers, appender, CREATE)
    await eventually(lambda: len(answers), accept=lambda found: found == 2)
    await appender.append(COMPLETE, deadline_s=SECONDS)
    assert await intents(connection) == [CREATED] * 2 + ["JOB:COMPLETE"]
    engine.position = max(answer.position for answer in answers)
    appender.processed(1)
    await eventually(lambda: len(answers), accept=lambda found: found == 4)
    engine.position = appender.last_position(1)
    appender.processed(1)
    await eventually(lambda: len(answers), accept=lambda found: found == 5)


async def test_new_that_finds_no_room_in_time_is_refused_and_not_written(start, connection, engine):
    appender = await start(1, new_wait_s=0.05)
    first = await appender.append(CREATE, deadline_s=SECONDS)
    with trio.fail_after(GUARD_S):
        for _ in range(3):
            with pytest.raises(Overloaded, match="more to do than it finishes"):
                await appender.append(CREATE, deadline_s=SECONDS)
    await appender.append(COMPLETE, deadline_s=SECONDS)
    engine.position = first.position
    appender.processed(1)
    await appender.append(CREATE, deadline_s=SECONDS)
    expected = [CREATED, "JOB:COMPLETE", CREATED]
    assert (await intents(connection), appender.stats.overloaded) == (expected, 3)


async def test_without_an_engine_there_is_room(start, connection, engine):
    appender = await start(1, new_wait_s=SECONDS)
    await appender.append(CREATE, deadline_s=SECONDS)
    answers = []
    async with trio.open_nursery() as waiting:
        waiting.start_soon(collect, answers, appender, CREATE)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert answers == []
        engine.position = None  # it leads no longer
        appender.processed(1)
    assert isinstance(answers[0], Appended)


async def test_what_waits_for_room_is_in_the_log_before_the_program_ends(start, connection, nursery, engine):
    appender, answers = await start(1, new_wait_s=SECONDS), []
    for _ in range(3):
        nursery.start_soon(collect, answers, appender, CREATE)
    await eventually(lambda: len(answers), accept=lambda found: found == 1)
    appender.drain()
    assert appender.busy
    engine.position = None
    appender.processed(1)
    await eventually(lambda: len(answers), accept=lambda found: found == 3)
    assert [type(answer) for answer in answers] == [Appended] * 3


async def test_new_is_admitted_while_the_engine_keeps_up_and_there_is_a_place_to_wait(start, nursery, engine):
    appender, answers = await start(1, new_wait_s=SECONDS, new_channel=1, lag_commands=1, lag_s=0), []
    assert appender.admits_new()
    nursery.start_soon(collect, answers, appender, CREATE)
    await eventually(lambda: len(answers), accept=lambda found: found == 1)  # one is in the log,
    nursery.start_soon(collect, answers, appender, CREATE)
    await trio.testing.wait_all_tasks_blocked()
    await eventually(appender.admits_new)  # the next one waits for capacity,
    nursery.start_soon(collect, answers, appender, CREATE)
    await trio.testing.wait_all_tasks_blocked()  # and the channel holds one more
    refused = appender.stats.overloaded
    assert not appender.admits_new()
    engine.position = appender.last_position(1)
    appender.processed(1)
    await eventually(lambda: len(answers), accept=lambda found: found == 2)
    assert appender.admits_new()
    engine.position -= 2
    assert not appender.admits_new()
    assert appender.stats.overloaded == refused + 2


async def test_a_full_log_holds_back_only_the_new_commands_of_its_partition(start, connection, nursery, engine):
    await leadership.create(connection, 2)
    appender, first, second = await start(1, new_wait_s=SECONDS), [], []
    for _ in range(3):
        nursery.start_soon(collect, first, appender, CREATE)
    await eventually(lambda: len(first), accept=lambda found: found == 1)
    nursery.start_soon(collect, second, appender, Append(CreateInstance(process_id="p"), "t", partition=2))
    await eventually(lambda: len(second), accept=lambda found: found == 1)
    assert [answer.position >> 51 for answer in second] == [2]
    assert len(first) == 1
    assert appender.admits_new()
    engine.position = None
    appender.processed(1)
    await eventually(lambda: len(first), accept=lambda found: found == 3)


async def test_only_new_commands_lose_patience(start):
    appender = await start(1, new_wait_s=3.0)
    channels = [trio.open_memory_channel(1) for _ in range(2)]
    new, work = (
        appender.begin_append(*each) for each in zip((CREATE, COMPLETE), (c[0] for c in channels), strict=True)
    )
    assert (new.queued, work.queued) == (True, True)
    assert (new.patience_until, work.patience_until) == (new.since + 3.0, float("inf"))
    first, second = [
        (await appender.finish_append(one, replies, one.since + SECONDS)).position
        for one, (_, replies) in zip((new, work), channels, strict=True)
    ]
    assert first != second
