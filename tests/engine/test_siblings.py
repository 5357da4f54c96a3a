"""Commands that go to the sibling process that leads their partition: none is lost, none forgotten."""

from functools import partial
from random import Random
from typing import Any

import pytest
import structlog.testing
import trio
import trio.testing

from tests.eventually import eventually
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append, pending_command
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import Draining, InDoubt, Lost, Overloaded, ValueRejected
from vivero.engine.outcomes.completions import Completions
from vivero.engine.outcomes.replies import Reply, next_reply, received
from vivero.engine.siblings import task
from vivero.engine.siblings.link import MAX_OUTSTANDING, Link
from vivero.engine.siblings.reception import FORGET_S, HOLD_S, Reception
from vivero.engine.siblings.records import AppendFailure, Frames, SubmissionAnswer, address, answers_decoder, frame
from vivero.engine.siblings.task import Siblings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.cluster.nodes import ClusterView, Partition
from vivero.storage.log.command_log import Appended, CommandOutcome

AT = (2 << 51) + 5
"""A position in the log of partition 2."""
APPENDED = Appended(AT, at_ms=7)
OUTCOME = CommandOutcome(AT, None, b'{"a":1}')


async def nowhere():
    raise AssertionError("nobody should connect")


class Answering:
    """A connection that answers everything with these rows."""

    def __init__(self, rows) -> None:
        self.rows = rows

    async def execute(self, *_):
        return self


class Waiting:
    """A request that waits for its command."""

    def __init__(self, item) -> None:
        send, self._replies = trio.open_memory_channel[Reply | None](2)
        self.pending = pending_command(item, send)
        self.replies: list[Reply] = []

    async def wait(self):
        """The result of the append."""
        self.replies.append(await next_reply(self._replies))
        return self.result

    @property
    def result(self):
        """The result of the append, if it has come."""
        while (reply := received(self._replies)) is not None:
            self.replies.append(reply)
        return self.replies[0].error or self.replies[0].appended if self.replies else None


class LeadersAppender:
    """Keeps what is to be appended."""

    draining = False

    def __init__(self) -> None:
        self.pending: list[Any] = []
        self.error: Exception | None = None

    def begin_pending(self, pending):
        if self.error is not None:
            raise self.error
        self.pending.append(pending)

    append_here = begin_pending


class Pair:
    """This process with a link, and the leader at its other end."""

    def __init__(self) -> None:
        self.ours, self.theirs = trio.testing.memory_stream_pair()
        self.appender, self.appended_here = LeadersAppender(), list[Any]()
        self.completions, self.leaders = Completions(nowhere), Completions(nowhere)
        self.link = Link(self.ours, self.completions, self.appended_here.append)
        self.reception = Reception(self.theirs, self.appender, self.leaders)

    async def submit(self, **more):
        """A command that has arrived at the leader."""
        pending = self.take(**more)
        await trio.testing.wait_all_tasks_blocked()
        return pending

    def take(self, **more):
        request = Waiting(Append(CompleteJob(key=9), "t", 9, partition=2, **more))
        assert self.link.take(request.pending)
        return request

    def known(self, position=AT):
        """The outcome that a request of this process gets without waiting."""
        send, replies = trio.open_memory_channel[Reply](1)
        with self.completions.register(2, position, send):
            return replies.receive_nowait().answer


@pytest.fixture
async def pair(nursery):
    pair = Pair()
    nursery.start_soon(pair.link.run)
    nursery.start_soon(pair.reception.run)
    return pair


async def test_position_and_outcome_come_back_together(pair):
    pending = await pair.submit(audit="{}")
    (arrived,) = pair.appender.pending
    assert (arrived.entry, arrived.partition, arrived.new) == (pending.pending.entry, 2, False)
    arrived.finish(APPENDED)
    await trio.testing.wait_all_tasks_blocked()
    assert pending.result is None
    pair.leaders.committed(2, AT, [CommandOutcome(AT, None, b'{"a":1}', reply=object())], [])
    await trio.testing.wait_all_tasks_blocked()
    assert pending.result == APPENDED
    assert pair.known() == OUTCOME
    assert pair.leaders.waiting == 0


async def test_an_outcome_that_is_not_remembered_reaches_the_request_that_waits(pair):
    large = CommandOutcome(AT, None, b'"' + b"x" * 20_000 + b'"')
    request = await pair.submit()
    request.pending.outcomes = pair.completions
    pair.appender.pending[0].finish(APPENDED)
    pair.leaders.committed(2, AT, [large], [])
    await trio.testing.wait_all_tasks_blocked()
    assert (request.result, request.replies[0].outcome) == (APPENDED, large)


async def test_a_rejection_comes_back(pair):
    await pair.submit()
    rejection = Rejection(RejectionCode.NOT_FOUND, "no job")
    pair.appender.pending[0].finish(APPENDED)
    pair.leaders.committed(2, AT, [CommandOutcome(AT, rejection)], [])
    await trio.testing.wait_all_tasks_blocked()
    assert pair.known().rejection == rejection


async def test_an_outcome_that_comes_before_the_append_is_reported_counts(pair):
    pair.leaders.committed(2, AT, [OUTCOME], [])
    pending = await pair.submit()
    pair.appender.pending[0].finish(APPENDED)
    await trio.testing.wait_all_tasks_blocked()
    assert (pending.result, pair.known()) == (APPENDED, OUTCOME)


@pytest.mark.parametrize("result", [APPENDED, Appended(AT, replayed=True, same_body=False)])
async def test_whoever_is_told_of_the_append_is_told_at_once(pair, result):
    """With a flush the client does not wait for the outcome; with another body there is none to wait for."""
    pending = await pair.submit(flush=result.same_body)
    pair.appender.pending[0].finish(result)
    await trio.testing.wait_all_tasks_blocked()
    assert pending.result == result


async def test_a_leader_that_stops_tells_positions_at_once(pair):
    pair.appender.draining = True
    pending = await pair.submit()
    pair.appender.pending[0].finish(APPENDED)
    await trio.testing.wait_all_tasks_blocked()
    assert pending.result == APPENDED


async def test_a_position_does_not_wait_long_for_the_outcome(pair, autojump_clock):
    pending = await pair.submit()
    began = trio.current_time()
    pair.appender.pending[0].finish(APPENDED)
    assert await pending.wait() == APPENDED
    assert trio.current_time() - began <= 2 * HOLD_S
    pair.leaders.committed(2, AT, [OUTCOME], [])
    await trio.testing.wait_all_tasks_blocked()
    assert pair.known() == OUTCOME


async def test_a_leader_forgets_what_never_has_an_outcome(pair, autojump_clock):
    await pair.submit()
    pair.appender.pending[0].finish(APPENDED)
    await trio.sleep(FORGET_S)
    await pair.submit()
    pair.appender.pending[1].finish(Appended(AT + 1))
    await trio.sleep(2 * HOLD_S)
    assert pair.leaders.waiting == 1


@pytest.mark.parametrize("error", [Overloaded("o"), ValueRejected("v"), InDoubt("d"), Lost("l")])
async def test_failures_come_back_as_they_are(pair, error):
    pending = await pair.submit()
    pair.appender.pending[0].finish(error)
    await trio.testing.wait_all_tasks_blocked()
    assert (type(pending.result), str(pending.result)) == (type(error), str(error))


async def test_a_failure_that_nobody_expects_is_a_doubt(pair):
    pending = await pair.submit()
    pair.appender.pending[0].finish(ValueError("a bug"))
    await trio.testing.wait_all_tasks_blocked()
    assert isinstance(pending.result, InDoubt)


async def test_a_lost_command_is_told_of_instead_of_its_outcome(pair):
    pending = await pair.submit()
    pair.appender.pending[0].finish(APPENDED)
    await pair.leaders.give_up_lost(Answering([(AT,)]))
    await trio.testing.wait_all_tasks_blocked()
    assert isinstance(pending.result, Lost)


async def test_a_command_that_the_leader_does_not_take_is_appended_here(pair):
    pair.appender.error = Draining("the program is stopping")
    pending = await pair.submit()
    assert pair.appended_here == [pending.pending]
    assert not pending.pending.sent
    assert pending.result is None


async def test_the_end_of_the_leader_leaves_in_doubt_what_was_sent_and_nothing_else(pair):
    sent = await pair.submit()
    told = await pair.submit(flush=True)
    pair.appender.pending[1].finish(APPENDED)
    await trio.testing.wait_all_tasks_blocked()
    await pair.theirs.send_stream.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert isinstance(sent.result, InDoubt)
    assert told.result == APPENDED
    assert not pair.link.open
    assert not pair.link.take(sent.pending)


async def test_a_command_that_was_not_sent_is_appended_here():
    pair = Pair()
    pending = pair.take()
    with trio.CancelScope() as scope:
        scope.cancel()
        await pair.link.run()
    assert pair.appended_here == [pending.pending]
    assert pending.result is None


async def test_a_withdrawn_command_is_not_sent(pair):
    pair.take().pending.withdrawn = True
    await trio.testing.wait_all_tasks_blocked()
    assert pair.appender.pending == []


@pytest.mark.long
async def test_a_link_takes_a_bounded_number_of_commands():
    pair = Pair()
    for _ in range(MAX_OUTSTANDING):
        pair.take()
    assert not pair.link.take(a_command(2))


class Chunks:
    """A stream that gives these bytes in chunks of these lengths."""

    def __init__(self, data, lengths) -> None:
        self.data, self.lengths = data, lengths

    async def receive_some(self, _most):
        length = next(self.lengths)
        chunk, self.data = self.data[:length], self.data[length:]
        return chunk


async def test_messages_arrive_in_any_chunks(seed):
    random = Random(seed)
    messages = [
        [SubmissionAnswer(number, failure=AppendFailure("Lost", "x" * random.randrange(90)))] for number in range(50)
    ]
    lengths = iter(lambda: random.randrange(1, 400), None)
    frames, found = Frames(Chunks(b"".join(map(frame, messages)), lengths)), []
    while (body := await frames.receive()) is not None:
        found.append(answers_decoder.decode(body))
    assert found == messages


# Over sockets


class Process:
    """A process with its task; `leaders` are the leaders of the partitions, from 1."""

    def __init__(self, directory, node, leaders) -> None:
        self.view = ClusterView((), tuple(Partition(number, name, False) for number, name in enumerate(leaders, 1)))
        self.appender, self.completions = LeadersAppender(), Completions(nowhere)
        appender: Any = self.appender
        self.siblings = Siblings(directory, node, self.completions, appender, lambda: self.view)

    async def run(self):
        await self.siblings.run(Beat(SupervisionSettings()))


def a_command(partition):
    return Waiting(Append(CompleteJob(key=9), "t", partition=partition)).pending


async def connected(process, partition):
    """Hands over a command until the process has reached the leader."""
    await eventually(lambda: process.siblings.take(a_command(partition)), every_s=0)


async def listening(path):
    """Waits until a process accepts connections there."""
    stream = await eventually(partial(trio.open_unix_socket, path), every_s=0, despite=(OSError,))
    await stream.aclose()


async def test_commands_go_to_the_process_that_leads_their_partition(tmp_path, nursery):
    one, two = (Process(tmp_path, node, ("a", "b", "elsewhere")) for node in ("a", "b"))
    nursery.start_soon(one.run)
    nursery.start_soon(two.run)
    await connected(one, 2)
    assert not one.siblings.take(a_command(1)), "it leads that itself"
    assert not one.siblings.take(a_command(3)), "that is no sibling"
    await eventually(lambda: two.appender.pending, every_s=0)
    assert not one.appender.pending


async def test_a_leader_that_is_not_there_is_not_tried_all_the_time(tmp_path, nursery, monkeypatch):
    monkeypatch.setattr(task, "RETRY_S", 1e6)
    one, two = (Process(tmp_path, node, ("a", "b")) for node in ("a", "b"))
    with structlog.testing.capture_logs() as logged:
        nursery.start_soon(one.run)
        assert not one.siblings.take(a_command(2))
        refused = {"the leader is not a process of this program"}
        await eventually(lambda: {entry["event"] for entry in logged}, accept=refused.issubset, every_s=0)
    nursery.start_soon(two.run)
    await listening(address(tmp_path, "b"))
    for _ in range(3):
        assert not one.siblings.take(a_command(2)), "a moment ago nobody was there"
        await trio.testing.wait_all_tasks_blocked()
    monkeypatch.setattr(task, "RETRY_S", 0.0)
    await connected(one, 2)


async def test_a_task_that_was_restarted_is_reached_again(tmp_path, nursery, monkeypatch):
    monkeypatch.setattr(task, "RETRY_S", 0.0)
    one, two = (Process(tmp_path, node, ("a", "b")) for node in ("a", "b"))
    nursery.start_soon(one.run)
    async with trio.open_nursery() as life:
        life.start_soon(two.run)
        await connected(one, 2)
        life.cancel_scope.cancel()
    await eventually(lambda: not one.siblings.take(a_command(2)), every_s=0)
    nursery.start_soon(two.run)
    await connected(one, 2)


# In the appender


async def test_a_command_that_a_sibling_has_is_in_doubt_at_its_deadline(autojump_clock):
    def elsewhere(pending):
        pending.sent = True
        return True

    appender = Appender(nowhere)
    appender.forward_to_sibling = elsewhere
    with pytest.raises(InDoubt):
        await appender.append(Append(CompleteJob(key=9), "t", partition=2), deadline_s=1.0)


async def test_new_work_is_never_sent_to_a_sibling(autojump_clock):
    def elsewhere(_pending):
        raise AssertionError("asked")

    appender = Appender(nowhere)
    appender.forward_to_sibling = elsewhere
    with pytest.raises(Overloaded):
        await appender.append(Append(CreateInstance(process_id="p"), "t"), deadline_s=1.0)


async def test_an_appender_that_stops_takes_no_command_of_a_sibling():
    appender = Appender(nowhere)
    appender.drain()
    request = Waiting(Append(CompleteJob(key=9), "t"))
    with pytest.raises(Draining):
        appender.begin_pending(request.pending)
    appender.append_here(request.pending)
    assert isinstance(request.result, Draining)
