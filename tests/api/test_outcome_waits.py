"""Requests and the channels through which their commands are answered: every order of what may happen. No database."""

from itertools import permutations, product

import pytest
import trio

from vivero.api.commands.reply_pool import MESSAGES, ReplyPool
from vivero.api.http.deadlines import Deadlines
from vivero.api.http.request import UNWATCHED_S
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import InDoubt
from vivero.engine.outcomes.completions import Completions
from vivero.storage.log.command_log import Appended, CommandOutcome

KEY = 2251799813685249
LIMIT_S = 2.5
NEVER = float("inf")
TIMES = (0.5, UNWATCHED_S, 1.75, LIMIT_S, 3.0)
"""Before, at and after the ends of both waits."""
LATE = 0.05
"""Deadlines that one task watches are late by at most two grains."""


async def nowhere():
    raise AssertionError("nobody should connect")


class Engine:
    """Real parts, of which the test decides when a command is appended and committed."""

    def __init__(self) -> None:
        self.taken = []
        self.appender = Appender(nowhere)
        self.appender.forward_to_sibling = self._take
        self.completions = Completions(nowhere)
        self.deadlines = Deadlines()
        self.replies = ReplyPool()
        self.position = 0

    def _take(self, pending):
        self.taken.append(pending)
        return True

    def begun(self):
        """The only command under way, and its position."""
        (pending,) = self.taken
        self.taken.clear()
        self.position += 1
        return pending, self.position

    def appended(self, pending, position):
        pending.finish(Appended(position), trio.current_time())

    def committed(self, position):
        self.completions.committed(0, position, [CommandOutcome(position)], [])


@pytest.fixture
async def engine(nursery):
    engine = Engine()
    nursery.start_soon(engine.deadlines.run)
    return engine


@pytest.fixture
def post(engine, make_client, settings):
    """Completes a job, and notes the answer: its status, and the position that it names."""
    client = make_client(
        appender=engine.appender,
        completions=engine.completions,
        deadlines=engine.deadlines,
        replies=engine.replies,
        settings=settings.__class__(response_timeout_s=LIMIT_S),
    )

    async def post(answers):
        answer = await client("POST", f"/v2/jobs/{KEY}/completion?wait=true", headers=[(b"idempotency-key", b"k")])
        position = answer.headers.get(b"command-position")
        answers.append((answer.status, None if position is None else int(position), trio.current_time()))

    return post


def possible(appended, committed, left, position):
    """The possible ends of the request, and their times."""
    answered = max(appended, committed)
    end = min(answered, LIMIT_S, left)
    ends = set()
    if answered == end:
        ends.add((204, position))
    if left == end:
        ends.add(None)
    if end == LIMIT_S:
        ends |= {(504, position)} if appended < end else {(503, None)}
        ends |= {(504, position)} if appended == end else set()
    return ends, end


async def run(engine, post, events):
    """One request, to which these events happen: (time, name). Then a second one, which is answered at once."""
    answers, began = [], trio.current_time()
    async with trio.open_nursery() as nursery:
        request = trio.CancelScope()

        async def ask():
            with request:
                await post(answers)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        command = engine.begun()
        happen = {
            "appended": lambda: engine.appended(*command),
            "committed": lambda: engine.committed(command[1]),
            "left": request.cancel,
        }
        for time, name in events:
            await trio.sleep_until(began + time)
            happen[name]()
    found = [(status, position, at - began) for status, position, at in answers]
    return command[1], found[0] if found else None


@pytest.mark.parametrize("order", list(permutations(("appended", "committed", "left"))), ids=" ".join)
async def test_a_request_gets_its_outcome_or_leaves_whatever_comes_first(autojump_clock, engine, post, order):
    for times in product((*TIMES, NEVER), repeat=3):
        at = dict(zip(("appended", "committed", "left"), times, strict=True))
        events = sorted(((at[name], name) for name in order if at[name] < NEVER), key=lambda event: event[0])
        position, found = await run(engine, post, events)
        ends, end = possible(**at, position=position)
        assert (found and found[:2]) in ends, events
        assert found is None or found[2] - end <= LATE, events
        await nothing_is_left(engine, post)


async def nothing_is_left(engine, post):
    """No waiter, no message in a channel that is used again, and the next request gets its own answer."""
    assert engine.completions.waiting == 0
    for channel in [engine.replies.take() for _ in range(len(engine.replies))]:
        assert channel[1].statistics().current_buffer_used == 0
        engine.replies.give_back(channel)
    position, found = await run(engine, post, [(0.0, "appended"), (0.0, "committed")])
    assert found == (204, position, 0.0)
    assert len(engine.replies) == 1


async def test_a_failed_append_is_told_whoever_waits(autojump_clock, engine, post):
    answers = []
    for time in TIMES[:-1]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post, answers)
            await trio.sleep(time)
            engine.begun()[0].finish(InDoubt("who knows"))
    assert {status for status, _, _ in answers[:-1]} == {504}
    await nothing_is_left(engine, post)


async def test_an_append_ends_once(autojump_clock, engine, post):
    """A second result would go to the next request that uses the channel."""
    answers = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(post, answers)
        await trio.testing.wait_all_tasks_blocked()
        pending, position = engine.begun()
        engine.appended(pending, position)
        engine.committed(position)
    with pytest.raises(RuntimeError, match="ended twice: JOB:COMPLETE"):
        engine.appended(pending, position)
    assert answers[0][:2] == (204, position)


async def test_the_pool_is_bounded():
    pool = ReplyPool(most=2)
    taken = [pool.take() for _ in range(4)]
    assert {send.statistics().max_buffer_size for send, _ in taken} == {MESSAGES}
    for channel in taken:
        pool.give_back(channel)
    assert len(pool) == 2
    assert pool.take() == taken[1]
