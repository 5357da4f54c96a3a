"""Faults that oracles and relations have found, each as a small model with what must hold on a path."""

import pytest

from tests.core.event_models import LIMITS
from tests.core.randomised.blocks import Call, Fork, Guard, Pass, Raise, Seq, Shout, Sub, Task
from tests.core.randomised.blocks_bpmn import to_bpmn
from tests.core.randomised.pairs import check_path

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
def test_a_token_that_a_later_quantum_was_to_move_is_gone_when_its_scope_is_interrupted(limits):
    """The scope throws the message that interrupts it, and its own token goes on in another quantum, or not at all."""
    body = Seq((Task("t1"), Shout("e1", "message", "h1"), Task("t2")))
    block = Sub("s1", Guard(body, (("h1", "message", True, Task("t3")),)))
    actions = [("complete", "p/s1/t1", {"v1": 2}), ("complete", "p/s1/h1/t3", {})]
    check_path(block, VARIABLES, actions, limits)


@limits
@pytest.mark.parametrize("passes", [0, 1, 2])
def test_a_token_on_its_way_while_its_scope_is_interrupted_leaves_nothing_behind(passes, limits):
    """Another token of the scope throws what interrupts it; what comes through an element meanwhile goes nowhere."""
    throws = Seq((*(Pass(f"g{number}", "manual") for number in range(passes)), Raise("e1", "A")))
    others = Seq((Pass("g3", "manual"), Pass("g4", "parallel"), Task("t2")))
    scope = Guard(Fork(Task("t1"), (throws, others)), (("h1", "escalation:A", True, Task("t3")),))
    actions = [("complete", "p/s1/t1", {}), ("complete", "p/s1/h1/t3", {})]
    check_path(Sub("s1", scope), VARIABLES, actions, limits)


def test_a_called_process_that_ends_gives_back_all_that_it_weighed(engine):
    engine.deploy(to_bpmn(Seq((Task("t1"), Call("a1", Task("t2")), Task("t3")))))
    engine.start(**VARIABLES)
    (tree,) = engine.state.trees.values()
    before = tree.weight
    engine.complete("t1")
    engine.complete("t2")
    assert tree.weight == before
