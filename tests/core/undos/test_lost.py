"""Each reason for which no undo restores something that a modification ends."""

import pytest

from tests.core.ad_hoc_models import tools
from tests.core.compensation_models import T, done, in_line
from tests.core.engine import Engine
from tests.core.event_models import inc, loop
from tests.core.message_models import model as with_message
from tests.core.message_models import receive
from tests.core.models import flow, par, start, sub, task
from tests.core.modification_models import command, terminate
from tests.core.undos.test_inverse import not_exact
from vivero.core.modifications.former import Lost, former_of
from vivero.core.records.instances import COMMAND_STAGE
from vivero.core.records.migrations import InstanceMigrated
from vivero.core.records.modifications import ElementRestored, InstanceModified
from vivero.core.records.suspensions import InstanceResumed
from vivero.core.records.user_tasks import AssignUserTask
from vivero.core.state.instance_tree import Part
from vivero.core.undos.inverse import NOTHING_AROUND, NotExact, inverse_of


def person(id, event):
    """A user task with a listener."""
    listeners = f'<zeebe:taskListeners><zeebe:taskListener eventType="{event}" type="t"/></zeebe:taskListeners>'
    return f'<userTask id="{id}"><extensionElements><zeebe:userTask/>{listeners}</extensionElements></userTask>'


def beside(activity):
    """`activity`, whose id is `a`, beside the task `b`."""
    return with_message(start(), par("f"), activity, task("b"), task("z"), "start > f > a", "f > b > z")


def nothing(engine):
    """It stays as it starts."""


def assigned(engine):
    """The change of the user task waits for its listener."""
    (user_task,) = engine.state.user_tasks.values()
    engine.accepted(AssignUserTask(user_task.key, "ann"))


def ending(engine):
    """`x`, inside of `a`, waits for its listener."""
    engine.accepted(command(engine.key, "-x", "y"))


def on_its_way(engine):
    """As in a database, between the message and its end in the tree."""
    (subscription,) = engine.state.subscriptions.values()
    subscription.state = "CORRELATED"


def of_a_command(engine):
    engine.fail("a")
    (incident,) = engine.state.incidents.values()
    incident.stage = COMMAND_STAGE


def with_retries(engine):
    """The job waits for its incident, although it has a retry."""
    engine.fail("a")
    engine.update("a", retries=1)


INSIDE = sub("a", start("i"), person("x", "canceling"), task("y"), "i > x")
LOST = {
    "it has ended a process instance": (beside(task("a")), nothing, ("-a", "-b")),
    "it has terminated an ad-hoc sub-process": (tools(task("x"), beside=(task("b"),)), nothing, ("-h", "b")),
    "it has terminated an element that was ending": (beside(INSIDE), ending, ("-a",)),
    "it has terminated what compensates, or can be compensated": (
        in_line(done("a"), T, task("z")),
        lambda engine: engine.complete("a"),
        ("-t", "-ua", "z"),
    ),
    "it has terminated a user task with a change that waited for listeners": (
        beside(person("a", "assigning")),
        assigned,
        ("-a",),
    ),
    "it has terminated an element whose event was on its way": (beside(receive("a")), on_its_way, ("-a",)),
    "it has terminated an element with an incident of a command": (beside(task("a")), of_a_command, ("-a",)),
    "it has terminated an element whose job could not be activated": (beside(task("a")), with_retries, ("-a",)),
}


@pytest.mark.parametrize("reason", LOST)
def test_it_is_not_restored(reason):
    model, prepare, instructions = LOST[reason]
    engine = Engine()
    engine.deploy(model)
    engine.key = engine.start(k="k")
    prepare(engine)
    assert not_exact(engine, command(engine.key, *instructions)) == reason


GONE_ON = {
    "a loop has gone on": (beside(loop(task("a"), "=[1, 2]", sequential=True)), (), "a"),
    "a token has gone on": (
        with_message(
            *(start(), inc("f"), task("a"), task("b"), task("c"), inc("j"), task("z")),
            *("start > f", *(flow("f", id, "=true") for id in "abc"), "a > j", "b > j > z"),
        ),
        ("-a",),
        "",
    ),
}


@pytest.mark.parametrize("reason", GONE_ON)
def test_what_goes_on_because_of_it_is_not_taken_back(reason):
    """`inner`: the element whose inner instance ends."""
    model, instructions, inner = GONE_ON[reason]
    engine = Engine()
    engine.deploy(model)
    engine.key = engine.start()
    if reason == "a token has gone on":
        engine.complete("b")
    if inner:
        instructions = (terminate(next(one.key for one in engine.state.elements.values() if one.is_inner)),)
    assert not_exact(engine, command(engine.key, *instructions)) == reason


@pytest.mark.parametrize(
    ("operation", "event", "reason"),
    [
        ("RESUME", InstanceResumed(7), "the log does not show the reason of the suspension any more"),
        (
            "MIGRATE",
            InstanceMigrated(7, 9, "p", 2, None, None, {"a": "x"}),
            "an older version of Vivero has done it, which did not record the former definition",
        ),
        (
            "MIGRATE",
            InstanceMigrated(7, 9, "p", 2, None, None, {"a": "x", "b": "x"}, former=(8, "p")),
            "it has mapped several elements to the same one",
        ),
        (
            "MODIFY",
            InstanceModified(7, ("a",), (5,)),
            "an older version of Vivero has done it, which did not record what it has terminated",
        ),
        (
            "MODIFY",
            InstanceModified(7, (), (5,), (ElementRestored(5, 5, 7, "a", "SUB_PROCESS", "ACTIVATED", None),)),
            "the elements that it has terminated have not ended yet",
        ),
    ],
)
def test_what_the_log_does_not_have(operation, event, reason):
    with pytest.raises(NotExact) as caught:
        inverse_of(operation, [event], 7, NOTHING_AROUND)
    assert str(caught.value) == reason


def test_a_part_of_a_loop_that_is_loaded_in_pages_is_not_restored():
    """Only a database has pages: an element inside knows its part."""
    engine = Engine()
    engine.deploy(beside(task("a")))
    engine.start()
    element = engine.element("a")
    element.part = Part(element.key, element)
    with pytest.raises(Lost, match="it has terminated a part of a loop that is loaded in pages"):
        former_of({element.key: element})
