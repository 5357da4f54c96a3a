"""Supervision on a mock clock that jumps: no test here waits in real time."""

import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

import pytest
import trio
import trio.testing

from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child, ChildState
from vivero.engine.supervision.failures import Escalated, excused, leaves
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.supervision.thread_times import times_of_this_thread
from vivero.engine.supervision.watchdog import EXIT_CODE, Step, Watchdog
from vivero.storage.postgres.errors import ConnectionLost, Outage, SteppedDown, StorageBug
from vivero.storage.postgres.given_time import GivenTime, measured

ROOT = Path(__file__).parents[3]
BODY = Callable[[Beat], Awaitable[object]]


@dataclass
class Recorder:
    """A child that notes when it starts, and does what `body` says."""

    body: BODY
    starts: list[float] = field(default_factory=list)

    async def run(self, beat: Beat) -> None:
        self.starts.append(trio.current_time())
        await self.body(beat)

    @property
    def gaps(self) -> list[float]:
        return [round(b - a, 3) for a, b in zip(self.starts, self.starts[1:], strict=False)]


async def idle(beat: Beat) -> None:
    await beat.idle(trio.sleep_forever)


async def silent(beat: Beat) -> None:
    await trio.sleep_forever()


def raising(error: Exception):
    async def body(beat: Beat) -> None:
        raise error.with_traceback(None)  # it is one object: its traceback would grow with each time

    return body


def died(message: str) -> None:
    pytest.fail(f"the process would have ended: {message}")


async def run_for(supervisor: Supervisor, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await supervisor.run()


async def test_a_child_that_raises_is_restarted_with_backoff(autojump_clock):
    child = Recorder(raising(ValueError("no")))
    await run_for(Supervisor([Child("c", child.run)], die=died), 6)
    assert child.gaps == [0, 0.05, 0.1, 0.2, 0.4, 0.8, 1, 1, 1, 1]


async def test_a_child_that_returns_is_restarted(autojump_clock):
    async def body(beat: Beat) -> None:
        await beat.sleep(0.5)

    child = Recorder(body)
    supervisor = Supervisor([Child("c", child.run)], die=died)
    await run_for(supervisor, 1.2)
    assert child.gaps == [0.5, 0.55]
    assert supervisor.health()[0].last_error == "Returned: returned"


async def test_the_backoff_starts_anew_after_a_healthy_life(autojump_clock):
    lives = iter([0, 0, 0, 11, 0, 0])

    async def body(beat: Beat) -> None:
        await beat.sleep(next(lives, 1000))
        raise ValueError("no")

    child = Recorder(body)
    await run_for(Supervisor([Child("c", child.run)], die=died), 20)
    assert child.gaps == [0, 0.05, 0.1, 11, 0.05, 0.1]


async def test_siblings_do_not_notice(autojump_clock):
    bad, good = Recorder(raising(ValueError("no"))), Recorder(idle)
    await run_for(Supervisor([Child("bad", bad.run), Child("good", good.run)], die=died), 5)
    assert len(bad.starts) > 5
    assert len(good.starts) == 1


async def test_more_than_twenty_failures_in_ten_seconds_escalate(autojump_clock):
    settings = SupervisionSettings(max_delay_s=0.05)
    child, sibling = Recorder(raising(ValueError("no"))), Recorder(idle)
    supervisor = Supervisor([Child("c", child.run), Child("s", sibling.run)], settings, died)
    with pytest.raises(Escalated, match=r"21 failures within 10 s, the last one in c: ValueError"):
        await run_for(supervisor, 60)
    assert len(child.starts) == 21
    assert {health.state for health in supervisor.health()} == {ChildState.STOPPED}


async def test_twenty_failures_in_ten_seconds_do_not(autojump_clock):
    child = Recorder(raising(ValueError("no")))
    await run_for(Supervisor([Child("c", child.run)], SupervisionSettings(max_failures=20), died), 600)
    assert len(child.starts) > 500


@pytest.mark.parametrize("error", [Outage("disk full"), ConnectionLost("gone"), SteppedDown("other epoch")])
async def test_outages_and_step_downs_never_count(autojump_clock, error):
    settings = SupervisionSettings(max_failures=1, max_delay_s=0.05)
    child = Recorder(raising(error))
    await run_for(Supervisor([Child("c", child.run)], settings, died), 60)
    assert len(child.starts) > 1000


async def test_a_group_is_excused_only_if_all_of_it_is():
    outage, bug = Outage("a"), StorageBug("b")
    assert excused(ExceptionGroup("", [outage, ExceptionGroup("", [SteppedDown("c")])]))
    assert not excused(ExceptionGroup("", [outage, bug]))
    assert list(leaves(ExceptionGroup("", [outage, ExceptionGroup("", [bug])]))) == [outage, bug]


async def test_a_silent_child_is_closed_cancelled_and_restarted(autojump_clock):
    closed: list[float] = []
    child = Recorder(silent)
    supervisor = Supervisor([Child("c", child.run, close=lambda: closed.append(trio.current_time()))], die=died)
    begin = trio.current_time()
    await run_for(supervisor, 1.5)
    assert child.starts[1] - begin == pytest.approx(1.1, abs=0.11)
    assert closed == [pytest.approx(child.starts[1])]
    assert supervisor.health()[0].last_error == "Silent: no beat for 1.0 s"


async def test_after_a_pause_of_the_whole_process_nobody_hangs(mock_clock):
    """All timeouts are over at once then, in whatever order: many children, so that one would be taken for silent."""
    children = [Recorder(idle) for _ in range(20)]
    supervisor = Supervisor([Child(f"c{n}", child.run) for n, child in enumerate(children)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(5):
            mock_clock.jump(7)
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(0.1)
            await trio.testing.wait_all_tasks_blocked()
        assert supervisor.healthy
        nursery.cancel_scope.cancel()
    assert [len(child.starts) for child in children] == 20 * [1]


class Machine:
    """It gives the program a share of the time. The clock moves by steps, and with each the loop turns once."""

    def __init__(self, clock) -> None:
        self._clock, self.given = clock, GivenTime()

    async def pass_time(self, seconds, share, step_s=0.2):
        for _ in range(round(seconds / step_s)):
            self._clock.jump(step_s)
            self.given.woke(trio.current_time(), step_s * (1 - share))
            await trio.testing.wait_all_tasks_blocked()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
async def test_no_child_of_a_starved_program_hangs(mock_clock, share):
    """They do not beat at all, because the machine does not let them: nine seconds, and less than one was given."""
    machine = Machine(mock_clock)
    children = [Recorder(silent) for _ in range(10)]
    supervisor = Supervisor([Child(f"c{n}", child.run) for n, child in enumerate(children)], die=died)
    with measured(machine.given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await machine.pass_time(9, share)
            assert [len(child.starts) for child in children] == 10 * [1]
            assert supervisor.slowness.slow
            nursery.cancel_scope.cancel()


async def test_a_hang_in_a_starved_program_is_found_by_the_time_that_it_was_given(mock_clock):
    machine = Machine(mock_clock)
    hung, beating = Recorder(silent), Recorder(idle)
    supervisor = Supervisor([Child("hung", hung.run), Child("beating", beating.run)], die=died)
    with measured(machine.given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await machine.pass_time(30, 0.05)
            assert [len(hung.starts), len(beating.starts)] == [2, 1]
            assert supervisor.healthy is False
            nursery.cancel_scope.cancel()


async def test_a_starved_program_is_healthy_while_its_children_beat(mock_clock):
    machine = Machine(mock_clock)
    supervisor = Supervisor([Child(f"c{n}", idle) for n in range(5)], die=died)
    with measured(machine.given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await trio.testing.wait_all_tasks_blocked()
            for _ in range(10):
                await machine.pass_time(2, 0.01, step_s=2)
                assert supervisor.healthy
            nursery.cancel_scope.cancel()


async def test_a_cancelled_child_gets_the_time_to_end_that_the_machine_gives(mock_clock):
    machine = Machine(mock_clock)
    messages: list[str] = []
    thaw = trio.Event()

    async def body(beat: Beat) -> None:
        with trio.CancelScope(shield=True):
            await thaw.wait()

    supervisor = Supervisor([Child("c", body)], die=messages.append)
    with measured(machine.given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await trio.testing.wait_all_tasks_blocked()
            assert supervisor.chaos("c", "cancel")
            await machine.pass_time(60, 0.05)
            assert messages == []
            await machine.pass_time(3, 1.0)
            assert messages[0].startswith("c has not ended 5.")
            thaw.set()
            nursery.cancel_scope.cancel()


async def test_a_drain_gets_the_time_that_the_machine_gives(mock_clock):
    machine = Machine(mock_clock)
    finish = trio.Event()
    supervisor = Supervisor([Child("api", lambda beat: beat.idle(finish.wait))], die=died)
    with measured(machine.given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(supervisor.stop, "api", 5.0)
            await machine.pass_time(60, 0.05)
            assert supervisor.health()[0].state is ChildState.RUNNING
            await machine.pass_time(3, 1.0)
            assert supervisor.health()[0].state is ChildState.STOPPED
            nursery.cancel_scope.cancel()


async def test_a_hung_child_is_not_excused_by_what_closing_its_sockets_raises(autojump_clock):
    closed = trio.Event()

    async def body(beat: Beat) -> None:
        await closed.wait()
        raise ConnectionLost("closed by this program")

    child = Recorder(body)
    supervisor = Supervisor([Child("c", child.run, close=closed.set)], SupervisionSettings(max_failures=0), died)
    with pytest.raises(Escalated, match=r"1 failures within 10 s, the last one in c: Silent: no beat for 1\.0 s"):
        await run_for(supervisor, 5)


async def test_a_failing_close_does_not_keep_a_hung_child(autojump_clock):
    def close() -> None:
        raise OSError("already closed")

    child = Recorder(silent)
    await run_for(Supervisor([Child("c", child.run, close=close)], die=died), 1.5)
    assert len(child.starts) == 2


async def test_waiting_within_a_deadline_is_no_hang_but_not_healthy_for_long(autojump_clock):
    async def body(beat: Beat) -> None:
        beat.beat()
        with beat.waiting(5):
            await trio.sleep(4.9)
        await trio.sleep_forever()

    child = Recorder(body)
    supervisor = Supervisor([Child("c", child.run)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(1.2)
        assert supervisor.healthy
        await trio.sleep(0.5)
        assert not supervisor.healthy
        await trio.sleep(3.9)  # 5.6 s: the wait is over, the silence after it 0.7 s long
        assert len(child.starts) == 1
        await trio.sleep(0.6)
        assert len(child.starts) == 2
        nursery.cancel_scope.cancel()


async def test_waiting_past_the_deadline_is_a_hang(autojump_clock):
    async def body(beat: Beat) -> None:
        with beat.waiting(2):
            await trio.sleep_forever()

    child = Recorder(body)
    await run_for(Supervisor([Child("c", child.run)], die=died), 3.5)
    assert child.gaps == [pytest.approx(3.1, abs=0.11)]


async def test_an_idle_child_beats(autojump_clock):
    supervisor = Supervisor([Child("c", idle)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        for _ in range(40):
            await trio.sleep(0.1)
            age_s = supervisor.health()[0].beat_age_s
            assert age_s is not None
            assert age_s <= 0.25
            assert supervisor.healthy
        nursery.cancel_scope.cancel()


async def test_idle_gives_what_it_waited_for(autojump_clock):
    send, receive = trio.open_memory_channel[int](1)
    got: list[int] = []

    async def body(beat: Beat) -> None:
        while True:
            got.append(await beat.idle(receive.receive))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Supervisor([Child("c", body)], die=died).run)
        for number in range(5):
            await trio.sleep(0.6)
            await send.send(number)
        await trio.sleep(0.6)
        nursery.cancel_scope.cancel()
    assert got == [0, 1, 2, 3, 4]


async def test_health_is_progress_not_existence(autojump_clock):
    progressing = True

    async def body(beat: Beat) -> None:
        beat.report_progress(lambda: progressing)
        await idle(beat)

    supervisor = Supervisor([Child("c", body), Child("d", idle)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(0.2)
        assert supervisor.healthy
        progressing = False
        assert not supervisor.healthy
        assert [child.healthy for child in supervisor.health()] == [False, True]
        nursery.cancel_scope.cancel()
    assert not supervisor.healthy


async def test_not_healthy_before_the_first_beat_nor_while_waiting_for_a_restart(autojump_clock):
    async def body(beat: Beat) -> None:
        await trio.sleep(0.5)
        beat.beat()
        await trio.sleep(0.5)
        raise ValueError("no")

    supervisor = Supervisor([Child("c", body)], SupervisionSettings(first_delay_s=1, max_delay_s=5), died)
    seen = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        for _ in range(6):
            await trio.sleep(0.45)
            seen.append((supervisor.health()[0].state.value, supervisor.healthy))
        nursery.cancel_scope.cancel()
    assert seen == [
        ("starting", False),
        ("running", True),
        ("starting", False),  # 1.35 s: the second life began at 1.0
        ("running", True),
        ("restarting", False),  # 2.25 s: the second life ended at 2.0
        ("restarting", False),
    ]


@pytest.mark.parametrize(("kind", "within_s"), [("raise", 0.001), ("cancel", 0.001), ("hang", 1.4)])
async def test_chaos_is_recovered_from(autojump_clock, kind, within_s):
    child = Recorder(idle)
    supervisor = Supervisor([Child("c", child.run)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(3.01)
        begin = trio.current_time()
        assert supervisor.chaos("c", kind)
        await trio.sleep(within_s)
        assert len(child.starts) == 2
        assert child.starts[1] - begin <= within_s
        assert supervisor.health()[0].restarts == 1
        nursery.cancel_scope.cancel()


async def test_a_child_of_several_tasks_looks_hung_too(autojump_clock):
    """The API's main task only waits for others, one of which beats: none of them may hide the hang."""

    async def body(beat: Beat) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(idle, beat)

    child = Recorder(body)
    supervisor = Supervisor([Child("c", child.run)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(3.01)
        supervisor.chaos("c", "hang")
        await trio.sleep(1.4)
        assert len(child.starts) == 2
        nursery.cancel_scope.cancel()


async def test_overlapping_waits_excuse_until_the_last_deadline(autojump_clock):
    beat = Beat(SupervisionSettings())
    with beat.waiting(1):
        outer = beat.waiting(3)
        outer.__enter__()
    await trio.sleep(3.9)
    assert not beat.overdue
    await trio.sleep(0.2)
    assert beat.overdue
    outer.__exit__(None, None, None)
    assert not beat.overdue
    assert not beat.excused


async def test_a_frozen_child_keeps_what_it_was_given(autojump_clock):
    """A lock granted to a child while it hangs is released when the child is ended."""
    lock = trio.Lock()

    async def body(beat: Beat) -> None:
        async with lock:
            await trio.lowlevel.checkpoint()

        await idle(beat)

    supervisor = Supervisor([Child("c", body)], die=died)
    await lock.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.testing.wait_all_tasks_blocked()
        supervisor.chaos("c", "hang")
        lock.release()
        await trio.testing.wait_all_tasks_blocked()
        assert lock.locked()
        await trio.sleep(1.5)
        assert supervisor.health()[0].restarts == 1
        assert not lock.locked()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("kind", ["raise", "hang"])
async def test_chaos_that_meets_a_child_which_has_just_ended_hurts_nobody(autojump_clock, kind):
    """Between the closing of its nursery and the end of its life."""
    supervisor = Supervisor([Child("c", idle)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as closed:
            pass
        supervisor._supervised["c"].life.nursery = closed
        assert not supervisor.chaos("c", kind)
        await trio.sleep(10)
        assert supervisor.health()[0].restarts == 0
        nursery.cancel_scope.cancel()


async def test_chaos_needs_a_known_child_and_kind(autojump_clock):
    supervisor = Supervisor([Child("c", idle)], die=died)
    assert not supervisor.chaos("c", "raise")  # not running yet
    with pytest.raises(KeyError):
        supervisor.chaos("d", "raise")
    with pytest.raises(ValueError, match="the kind of chaos must be one of"):
        supervisor.chaos("c", "explode")


async def test_a_child_that_cannot_be_ended_ends_the_process(autojump_clock):
    messages: list[str] = []
    thaw = trio.Event()

    async def body(beat: Beat) -> None:
        with trio.CancelScope(shield=True):
            await thaw.wait()

    def die(message: str) -> None:
        messages.append(message)
        thaw.set()

    await run_for(Supervisor([Child("c", body)], die=die), 8)
    assert len(messages) == 1
    assert messages[0].startswith("c has not ended 5.")


async def test_stop_drains_and_does_not_restart(autojump_clock):
    finish = trio.Event()

    async def body(beat: Beat) -> None:
        await beat.idle(finish.wait)
        await beat.sleep(0.5)

    api, other = Recorder(body), Recorder(idle)
    supervisor = Supervisor([Child("api", api.run, drain=finish.set), Child("other", other.run)], die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(0.1)
        begin = trio.current_time()
        await supervisor.stop("api", grace_s=10)
        assert trio.current_time() - begin == pytest.approx(0.5)
        assert supervisor.health()[0].state is ChildState.STOPPED
        await supervisor.stop("other", grace_s=2)  # it has no drain: cancelled after its grace
        assert trio.current_time() - begin == pytest.approx(2.5)
    assert (len(api.starts), len(other.starts)) == (1, 1)


async def test_a_child_that_fails_on_its_way_out_does_not_fail_the_stop(autojump_clock):
    async def body(beat: Beat) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("in the clean-up")

    await run_for(Supervisor([Child("c", body)], die=died), 0.5)


WAITED = Step(meant_s=1.0, took_s=1.0, computed_s=0.0, queued_s=0.0)


def test_the_watchdog_ends_a_blocked_process():
    messages: list[str] = []
    dog = Watchdog(limit_s=10, interval_s=1, die=messages.append)
    for _ in range(10):
        dog.tick(WAITED)
    assert messages == []
    dog.pat()
    for _ in range(12):
        dog.tick(WAITED)
    assert messages == ["the event loop has been blocked for more than 10 s"]


@pytest.mark.parametrize(
    ("step", "given_s"),
    [
        (Step(0.01, 0.0101, 0.0, 0.0), 0.0101),  # blocked on a lock, on a machine with time
        (Step(0.01, 0.5, 0.0, 0.0), 0.015),  # the whole process was stopped
        (Step(0.01, 0.012, 0.0, 0.012), 0.0),  # the loop is ready, and others have the processors
        (Step(0.01, 0.1, 0.005, 0.095), 0.005),  # a quota of a twentieth, which the loop computes with
        (Step(0.01, 2.0, 1.9, 0.0), 1.9),  # it computes, and keeps the interpreter's lock
    ],
)
def test_the_watchdog_counts_the_time_that_the_loop_was_given(step, given_s):
    assert step.given_s == pytest.approx(given_s)


@pytest.mark.parametrize("computed_s", [0.0, 0.005])
def test_the_watchdog_lets_a_crowded_out_loop_be(computed_s):
    """A twentieth of a processor for 100 s: the loop computes 5 s at most, or nothing."""
    dog = Watchdog(limit_s=10, interval_s=1, die=died)
    for _ in range(1000):
        dog.tick(Step(0.01, 0.1, computed_s, 0.1 - computed_s))


def test_the_times_of_a_thread_are_read_from_another():
    times = times_of_this_thread()
    before, began = times(), thread_time()
    while thread_time() < began + 0.02:
        pass
    with ThreadPoolExecutor(1) as other:
        after = other.submit(times).result()
    assert after.computed_s - before.computed_s >= 0.02
    assert after.queued_s >= before.queued_s


def test_the_watchdog_runs_in_a_thread():
    dead = threading.Event()
    dog = Watchdog(limit_s=0, interval_s=0.001, die=lambda message: dead.set())
    with dog.thread():
        assert dead.wait(10)
    assert not any(thread.name == "watchdog" for thread in threading.enumerate())


BLOCKED_LOOP = """
import threading, trio
from vivero.engine.supervision.watchdog import Watchdog

async def main():
    dog = Watchdog(limit_s=0.05, interval_s=0.01)
    with dog.thread():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dog.run)
            await trio.lowlevel.checkpoint()
            threading.Event().wait()

trio.run(main)
"""


def test_a_blocked_loop_ends_the_process_and_says_where():
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED_LOOP], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == EXIT_CODE
    assert "the event loop has been blocked for more than 0.05 s" in done.stderr
    assert "Thread 0x" in done.stderr


async def test_a_turning_loop_pats_the_watchdog(autojump_clock):
    dog = Watchdog(limit_s=2, interval_s=1, die=died)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dog.run)
        for _ in range(100):
            dog.tick(WAITED)
            await trio.sleep(1)
        nursery.cancel_scope.cancel()
