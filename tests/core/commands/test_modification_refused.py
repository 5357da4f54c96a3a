"""The reasons for which a modification is refused, with texts that clients of Camunda know."""

import pytest
from msgspec import structs

from tests.core.compensation_models import T, done, in_line
from tests.core.event_models import boundary, call, loop, model
from tests.core.listener_models import listening
from tests.core.message_models import model as with_message
from tests.core.models import start, sub, task
from tests.core.modification_models import NESTED, activate, command, modify, move, refused, terminate
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.effects import RejectionCode
from vivero.core.records.modifications import ElementRestored, ModifyInstance, MoveInstruction, TerminateInstruction

BEGIN = "Expected to modify instance of process 'p' but it contains one or more "
TIMER = "<timerEventDefinition><timeDuration>{}</timeDuration></timerEventDefinition>"
GATEWAY = (
    '<eventBasedGateway id="g"/><intermediateCatchEvent id="c1">'
    f"{TIMER.format('PT1H')}</intermediateCatchEvent>"
    f'<intermediateCatchEvent id="c2">{TIMER.format("PT2H")}</intermediateCatchEvent>'
)
LOOPED = loop(sub("m", start("i"), task("x"), "i > x"), collection="=[1, 2]")
EVERYTHING = model(
    *(start(), task("t"), LOOPED, GATEWAY, sub("s", start("is"), task("in"), "is > in")),
    *(boundary("late", "t", TIMER.format("PT1H")), task("late-task")),
    *("start > t > m > g > c1", "g > c2 > s", "late > late-task"),
)


@pytest.fixture
def key(engine):
    engine.deploy(EVERYTHING)
    engine.key = engine.start()
    return engine.key


ROWS = {
    "an unknown element": (activate("zz"), "activate instructions with an element that could not be found: 'zz'"),
    "behind a gateway": (
        activate("c1"),
        "activate instructions for elements that are unsupported: 'c1'. The activation of "
        "elements belonging to an event-based gateway is not supported",
    ),
    "a start event": (
        activate("start"),
        "activate instructions for elements that are unsupported: 'start'. The activation of elements with "
        "type 'START_EVENT'",
    ),
    "a sequence flow": (
        activate("start-t"),
        "activate instructions for elements that are unsupported: 'start-t'. The activation of elements with type "
        "'SEQUENCE_FLOW' is not supported. Supported element types are: AD_HOC_SUB_PROCESS, ",
    ),
    "a boundary event": (activate("late"), "activate instructions for elements that are unsupported: 'late'"),
    "the process": (activate("p"), "activate instructions for elements that are unsupported: 'p'"),
    "an unknown target of a move": (
        move("t", "zz"),
        "activate instructions with an element that could not be found: 'zz'",
    ),
    "an unknown element instance": (
        terminate(7),
        "terminate instructions with an element instance that could not be found: '7'",
    ),
    "an unknown element to end": (
        terminate("zz"),
        "terminate instructions with an element that could not be found: 'zz'",
    ),
    "an element that is not active": (
        terminate("in"),
        "terminate instructions with an element that has no active instance: 'in'",
    ),
    "an unknown source": (move("zz", "t"), "move instructions with a source element that could not be found: 'zz'"),
    "a source that is not active": (
        move("in", "t"),
        "move instructions with a source element that has no active instance: 'in'",
    ),
    "an unknown source instance": (
        move(7, "t"),
        "move instructions with a source element instance that does not exist, or is not in an active state: '7'",
    ),
    "an unknown variable scope": (
        activate("t", scope="zz", x=1),
        "variable instructions with a scope element id that could not be found: 'zz'",
    ),
    "no flow scope": (
        activate("t", scope="s", x=1),
        "variable instructions with a scope element that doesn't belong to the activating element's flow scope: 's'. "
        "These variables should be set before or after the modification.",
    ),
    "an unknown ancestor": (
        activate("in", ancestor=7),
        "activate instructions with an ancestor scope key that does not exist, or is not in an active state: '7'",
    ),
    "a multi-instance body": (
        activate("x"),
        "activate instructions that would result in the activation of multi-instance element 'm', which is currently "
        "unsupported. Please specify an ancestor element instance key of an inner instance",
    ),
    "two ways to name what ends": (
        TerminateInstruction(1, "t"),
        "terminate instructions that do not have exactly one of an element instance key and an element id",
    ),
    "no way to name what ends": (TerminateInstruction(), "terminate instructions that do not have exactly one"),
    "no source": (
        MoveInstruction("t"),
        "move instructions that do not have exactly one of a source element instance key and a source element id",
    ),
}


@pytest.mark.parametrize("scope_type", ["direct", "inferred", "sourceParent"])
@pytest.mark.parametrize("others", [(), (terminate("p"),)])
def test_the_process_instance_is_not_moved(engine, key, scope_type, others):
    (reason,) = refused(engine, key, move("p", "t", scope_type), *others)
    assert reason == BEGIN + "move instructions with a source element that could not be found: 'p'"


@pytest.mark.parametrize("row", ROWS)
def test_it_is_refused(engine, key, row):
    instruction, text = ROWS[row]
    reason, *_ = refused(engine, key, instruction)
    assert reason.startswith(BEGIN + text), reason


def test_all_problems_are_told_with_their_elements(engine, key):
    handled = engine.run(command(key, "zz", activate("late", scope="yy", x=1), terminate(7), move("t", "start")))
    found = [(one.element, one.message.removeprefix(BEGIN).split(" ")[0]) for one in handled.rejection.violations]
    assert found == [
        (None, "terminate"),
        ("zz", "activate"),
        ("late", "activate"),
        ("start", "activate"),
        ("yy", "variable"),
    ]


def test_an_unknown_instance(engine, key):
    (reason,) = refused(engine, 7, "t", code=RejectionCode.NOT_FOUND)
    assert reason == "Expected to modify process instance but no process instance found with key '7'"
    refused(engine, engine.element("t").key, "t", code=RejectionCode.NOT_FOUND)


def test_another_tenant(engine, key):
    handled = engine.run(command(key, "t"), "other")
    assert handled.rejection.code is RejectionCode.NOT_FOUND


def test_an_instance_that_is_ending(engine):
    engine.deploy(listening(model(start(), task("t"), "start > t"), p=["cancel c"]))
    key = engine.start()
    engine.cancel(key)
    refused(engine, key, "t", code=RejectionCode.INVALID_STATE)


def test_several_instances_of_a_flow_scope(engine):
    engine.deploy(NESTED)
    key = engine.start()
    modify(engine, key, activate("beside", ancestor=key), activate("beside", ancestor=key))
    (reason,) = refused(engine, key, "beside")
    assert "for an element that has a flow scope with more than one active instance: 'beside'" in reason
    assert "Can't decide in which instance of the flow scope the element should be activated" in reason
    assert reason.endswith("Please specify an ancestor element instance key for this activate instruction.")
    one, other = (e.key for e in engine.state.elements.values() if e.element == "outer")
    modify(engine, key, activate("beside", ancestor=one), terminate(other))


def test_an_ancestor_that_is_not_around_the_element(engine):
    engine.deploy(NESTED)
    key = engine.start()
    modify(engine, key, "beside")
    (reason,) = refused(engine, key, activate("after", ancestor=engine.element("outer").key))
    assert "with an ancestor scope key that is not an ancestor of the element to activate" in reason
    (reason,) = refused(engine, key, move("beside", "after", "sourceParent"))
    assert "is not an ancestor" in reason


def test_an_ancestor_of_another_instance(engine, key):
    other = engine.start()
    (reason,) = refused(engine, key, activate("in", ancestor=other))
    assert "with an ancestor scope key that does not belong to the modified process instance" in reason
    (reason,) = refused(engine, key, terminate(other))
    assert "could not be found" in reason


def test_a_batch_leaves_out_moves_without_an_active_source(engine, key):
    given = ModifyInstance(key, move=(MoveInstruction("t", "in"), MoveInstruction("t", "zz")), skip_absent=True)
    handled = engine.run(given)
    assert handled.rejection.moot
    assert (
        handled.rejection.reason
        == BEGIN + "move instructions with source elements that have no active instance: 'in', 'zz'"
    )
    handled = engine.run(structs.replace(given, move=(*given.move, MoveInstruction("in", "t"))))
    assert (handled.rejection, engine.elements) == (None, ["in", "p", "s"])


@pytest.mark.parametrize(("source", "target"), [("p", "t"), ("t", "zz")])
def test_a_batch_is_refused_for_other_faults(engine, key, source, target):
    handled = engine.run(ModifyInstance(key, move=(MoveInstruction(target, source),), skip_absent=True))
    assert handled.rejection.code is RejectionCode.INVALID_ARGUMENT
    assert not handled.rejection.moot


def test_a_needed_scope_that_ends(engine):
    engine.deploy(NESTED)
    key = engine.start()
    modify(engine, key, "deep")
    for ending in ("inner", "outer"):
        (reason,) = refused(engine, key, "deeper", terminate(ending))
        assert "whose required flow scope instance is also being terminated" in reason


def test_an_inner_instance_is_not_made(engine, key):
    modify(engine, key, "m", terminate("t"))
    body = next(e for e in engine.state.elements.values() if e.element == "m" and not e.is_inner)
    (reason,) = refused(engine, key, activate("x", ancestor=body.key))
    assert "multi-instance element 'm'" in reason


def test_the_end_of_a_called_instance(engine):
    called = model(start(), task("w"), "start > w", id="called")
    engine.deploy(called, model(start(), call("c", "called"), "start > c"))
    engine.start()
    child = engine.element("called").key
    for what in ("w", child):
        (reason,) = refused(engine, child, terminate(what))
        assert reason.endswith(
            "the given instructions would terminate the instance. The instance was created by a call activity in the "
            "parent process. To terminate this instance please modify the parent process instead."
        )


def test_a_source_twice(engine, key):
    t = engine.element("t").key
    (reason,) = refused(engine, key, move("t", "s"), move("t", "in"))
    assert reason == BEGIN + "move instructions with a duplicate source element id: 't'"
    (reason,) = refused(engine, key, move(t, "s"), move(t, "in"))
    assert reason == BEGIN + f"move instructions with a duplicate source element instance key: '{t}'"


def test_a_subscription_that_cannot_be_made(engine):
    """The whole command is refused, and nothing has begun."""
    inside = sub("s", start("i"), task("a"), "i > a")
    caught = boundary("late", "s", TIMER.format("=wait"))
    engine.deploy(model(start(), task("t"), inside, caught, task("b"), "start > t > s", "late > b"))
    key = engine.start()
    (reason,) = refused(engine, key, "t", "a")
    assert reason.startswith("Expected to modify instance of process 'p' but ")
    assert "'wait'" in reason


def test_an_element_that_starts_the_process(engine):
    receiving = '<receiveTask id="r" messageRef="m" instantiate="true"/>'
    engine.deploy(with_message(start(), task("t"), receiving, task("u"), "start > t", "r > u"))
    (reason,) = refused(engine, engine.start(), "r")
    assert reason.startswith(BEGIN + "activate instructions for elements that are unsupported: 'r'. ")
    assert "activation of elements that start the process by an event (instantiate) is not supported" in reason


def test_a_scope_in_which_an_undo_restores_has_ended(engine, key):
    """The version is compared first: only a client of the log could send it."""
    restored = ElementRestored(7, 7, 8, "in", "SERVICE_TASK", "ACTIVATED", None)
    handled = engine.run(ModifyInstance(key, is_undo=True, restore=(restored,)))
    assert handled.rejection.code is RejectionCode.INVALID_STATE
    assert handled.rejection.reason == "Expected to restore element instance with key '7', but its scope has ended"
    assert handled.events == []


def test_a_compensation_handler_whose_thrower_waits(engine):
    engine.deploy(in_line(done("a"), T))
    key = engine.start()
    engine.complete("a")
    (reason,) = refused(engine, key, terminate("ua"))
    assert "that compensates for the throwing event 't', which would wait for ever" in reason
    assert reason.endswith("Please terminate the throwing event, too.")
    modify(engine, key, terminate("ua"), terminate("t"))
    assert engine.elements == []


def test_the_command_survives_the_log():
    given = command(5, activate("a", 7, "", x=[1]), move("b", "c", "inferred"), terminate("d"), terminate(9))
    assert isinstance(given, ModifyInstance)
    assert decode_command(given.intent, encode_command(given)) == given
