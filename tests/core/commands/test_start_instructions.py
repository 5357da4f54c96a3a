"""Beginning an instance before given elements."""

import pytest

from tests.core.engine import raw
from tests.core.models import end, par, process, start, sub, task
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance


def begin(engine, *elements, **variables):
    return engine.run(CreateInstance("p", variables=raw(variables), start_elements=elements))


def entered(engine):
    """The elements that were entered, in order."""
    return [line.split()[1] for line in engine.trace if line.startswith("  ElementActivating ")]


NESTED = process(
    start(),
    sub(
        "outer",
        start("s1"),
        sub("inner", start("s2"), task("deep"), task("deeper"), "s2 > deep > deeper", inputs=[("=nope.x + 1", "seen")]),
        task("beside"),
        "s1 > inner > beside",
    ),
    task("after"),
    end(),
    "start > outer > after > end",
)


def test_no_start_event_and_nothing_before_it_happens(engine):
    engine.deploy(NESTED)
    begin(engine, "after", x=1)
    assert engine.elements == ["after", "p"]
    assert engine.variables("p") == {"x": 1}
    assert entered(engine) == ["after"]
    engine.complete("after")
    assert engine.elements == []


def test_scopes_around_are_entered_without_start_events_and_inputs(engine):
    engine.deploy(NESTED)
    key = begin(engine, "deeper").response.process_instance_key
    assert engine.elements == ["deeper", "inner", "outer", "p"]
    assert engine.variables("inner") == {}
    assert entered(engine) == ["outer", "inner", "deeper"]
    for id in ("deeper", "beside", "after"):
        engine.complete(id)
    assert engine.state_of(key) == "COMPLETED"


def test_several_elements_of_one_scope_share_it(engine):
    engine.deploy(NESTED)
    begin(engine, "deep", "deeper", "beside", "after")
    assert engine.elements == ["after", "beside", "deep", "deeper", "inner", "outer", "p"]
    for id in ("deeper", "deep", "deeper", "beside", "beside", "after", "after"):
        engine.complete(id)
    assert engine.elements == []


def test_the_same_element_twice_gets_two_tokens(engine):
    engine.deploy(NESTED)
    begin(engine, "after", "after")
    assert engine.jobs == ["after", "after"]


def test_a_scope_itself_begins_with_its_start_event(engine):
    engine.deploy(process(start(), sub("s", start("i"), task("a"), task("b"), "i > a", "i > b"), "start > s"))
    begin(engine, "s")
    assert engine.jobs == ["a", "b"]
    begin(engine, "s", "a")
    assert engine.elements.count("s") == 3


def test_a_gateway_may_be_begun_at(engine):
    engine.deploy(process(start(), par("fork"), task("a"), task("b"), "start > fork", "fork > a", "fork > b"))
    begin(engine, "fork")
    assert engine.jobs == ["a", "b"]


EVENT_SUB_PROCESS = (
    '<subProcess id="catch" triggeredByEvent="true"><startEvent id="caught"><errorEventDefinition id="d"/></startEvent>'
    '<serviceTask id="repair"><extensionElements><zeebe:taskDefinition type="r"/></extensionElements></serviceTask>'
    '<sequenceFlow id="f" sourceRef="caught" targetRef="repair"/></subProcess>'
)


def test_inside_of_an_event_sub_process_nothing_is_interrupted(engine):
    engine.deploy(process(start(), task("a"), EVENT_SUB_PROCESS, "start > a"))
    begin(engine, "repair", "a")
    assert engine.elements == ["a", "catch", "p", "repair"]
    engine.throw("a", "E")
    assert engine.elements == ["catch", "p", "repair"]


def test_what_fails_on_the_way_is_begun_again_when_it_is_resolved(engine):
    """The boundary timer of the sub-process cannot be evaluated: its incident keeps what it was to begin with."""
    timer = (
        '<boundaryEvent id="late" attachedToRef="s"><timerEventDefinition><timeDuration>=wait</timeDuration>'
        "</timerEventDefinition></boundaryEvent>"
    )
    parts = start(), sub("s", start("i"), task("a"), task("b"), "i > a > b"), timer, task("c")
    engine.deploy(process(*parts, "start > s", "late > c"))
    key = begin(engine, "b").response.process_instance_key
    assert [(element, kind) for element, kind, _ in engine.incidents] == [("s", "EXTRACT_VALUE_ERROR")]
    engine.set(key, wait="PT1H")
    engine.resolve()
    assert (engine.incidents, engine.jobs) == ([], ["b"])


MULTI = (
    '<subProcess id="loop"><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics'
    ' inputCollection="=[1]"/></extensionElements></multiInstanceLoopCharacteristics><startEvent id="i"/>'
    f'{sub("s", start("j"), task("in"), "j > in")}<sequenceFlow id="x" sourceRef="i" targetRef="s"/></subProcess>'
)
CHOICE = (
    '<eventBasedGateway id="gateway"/><intermediateCatchEvent id="soon"><timerEventDefinition><timeDuration>PT1S'
    '</timeDuration></timerEventDefinition></intermediateCatchEvent><intermediateCatchEvent id="later">'
    "<timerEventDefinition><timeDuration>PT2S</timeDuration></timerEventDefinition></intermediateCatchEvent>"
)
BOUNDARY = '<boundaryEvent id="catcher" attachedToRef="a"><errorEventDefinition id="d"/></boundaryEvent>'


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("nope", "no element found with id 'nope'."),
        ("start", "the element with id 'start' targets unsupported element type 'START_EVENT'."),
        ("catcher", "the element with id 'catcher' targets unsupported element type 'BOUNDARY_EVENT'."),
        ("p", "the element with id 'p' targets unsupported element type 'PROCESS'."),
        (
            "soon",
            "the element with id 'soon' belongs to an event-based gateway."
            " The creation of elements belonging to an event-based gateway is not supported.",
        ),
        (
            "in",
            "the element with id 'in' is inside a multi-instance subprocess."
            " The creation of elements inside a multi-instance subprocess is not supported.",
        ),
    ],
)
def test_what_cannot_be_begun_at(engine, element, reason):
    flows = "start > a > gateway > soon", "gateway > later", "later > loop"
    engine.deploy(process(start(), task("a"), BOUNDARY, CHOICE, MULTI, *flows))
    rejection = begin(engine, "a", element).rejection
    assert rejection.code is RejectionCode.INVALID_ARGUMENT
    assert rejection.reason == f"Expected to create instance of process with start instructions but {reason}"
    assert engine.elements == []


def test_the_body_of_a_loop_may_be_begun_at(engine):
    engine.deploy(process(start(), MULTI, "start > loop"))
    begin(engine, "loop")
    assert engine.jobs == ["in"]


def test_the_command_survives_the_log():
    command = CreateInstance("p", start_elements=("a", "b"))
    assert decode_command(command.intent, encode_command(command)) == command
