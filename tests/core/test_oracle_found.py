"""What the oracles and relations have found, each as a small model, and what must hold at each point of a path."""

import pytest
from core_bench import Bench
from core_blocks import Call, Edge, Fork, Guard, Par, Seq, Shout, Sub, Task
from core_blocks_bpmn import to_bpmn
from core_events import LIMITS
from core_pairs import check_path

from engine.core.records import FireTimer
from engine.core.step import Limits

VARIABLES = {"v0": 0, "v1": 1, "v2": 2, "v3": 0}
limits = pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)


@limits
@pytest.mark.parametrize("body", [Task("t1"), Seq((Task("t1"), Task("t2")))], ids=["task", "tasks"])
def test_a_timer_that_starts_an_interrupting_event_sub_process_is_not_cancelled_once_more(body, limits):
    """Its start ends the other waits of the scope, in the stage in which it has ended itself."""
    block = Guard(body, (("h1", "timer", True, Task("t3")), ("h2", "timer", False, Task("t4"))))
    actions = [("fire", "p", "h2"), ("fire", "p", "h1"), ("complete", "p/h1/t3", {"v0": 1})]
    check_path(block, VARIABLES, actions, limits)


@limits
def test_a_token_that_a_later_slice_was_to_move_is_gone_when_its_scope_is_interrupted(limits):
    """The scope throws the message that interrupts it, and its own token goes on in another slice, or not at all."""
    body = Seq((Task("t1"), Shout("e1", "message", "h1"), Task("t2")))
    block = Sub("s1", Guard(body, (("h1", "message", True, Task("t3")),)))
    actions = [("complete", "p/s1/t1", {"v1": 2}), ("complete", "p/s1/h1/t3", {})]
    check_path(block, VARIABLES, actions, limits)


@pytest.mark.parametrize("slices", range(1, 8))
def test_a_scope_does_not_end_while_a_later_slice_is_to_enter_a_boundary_event(slices):
    """The host of the event has ended, and nothing else is left in the scope when another command lets it settle."""
    host = Sub("s", Par("p1", (Task("a1"), Task("a2"))))
    ways = (Edge(host, (("b1", "timer", Task("late")),)), Task("b"))
    bench = Bench(Limits(slice_items=1))
    bench.deploy(to_bpmn(Fork(Task("f"), ways)))
    key = bench.start(**VARIABLES)
    bench.complete("f")
    only_first_slices(bench, FireTimer(next(iter(bench.state.timers))), slices)
    bench.engine.processor._limit = 1_000  # as if the first command had been large, and this one small
    bench.complete("b")
    assert bench.jobs == ["late"]
    bench.complete("late")
    assert bench.state_of(key) == "COMPLETED"


def only_first_slices(bench, command, slices):
    """Run a command; but of its deferred work only so many slices: the next command comes in between."""
    engine = bench.engine
    spilled = engine.processor.notices.spilled
    engine._handle(command, "<default>", None)
    for _ in range(slices - 1):
        if spilled:
            following = spilled.pop(0)
            engine._handle(following.command, following.tenant, following.request)


def test_a_called_process_that_ends_gives_back_all_that_it_weighed(bench):
    bench.deploy(to_bpmn(Seq((Task("t1"), Call("a1", Task("t2")), Task("t3")))))
    bench.start(**VARIABLES)
    (instance,) = bench.state.trees.values()
    before = instance.weight
    bench.complete("t1")
    bench.complete("t2")
    assert instance.weight == before
