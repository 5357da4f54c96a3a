"""Ad-hoc sub-processes in files: what can be activated, what is refused, what a worker learns."""

import pytest

from tests.core.event_models import ad_hoc, error, on
from tests.core.models import end, par, process, start, task
from vivero.core.bpmn.parser import parse

ON_ERROR = on(error(), "e")


def problems(*parts, **settings):
    content = process(start() + "\n", ad_hoc("h", *parts, **settings), end(), "start > h > end")
    return [(one.element_id, one.line, one.message) for one in parse(content, "a.bpmn").problems]


def attribute(text):
    """An ad-hoc sub-process with this attribute."""
    content = process(start() + "\n", ad_hoc("h", task("A")).replace('id="h"', f'id="h" {text}'), "start > h")
    return [(one.element_id, one.line, one.message) for one in parse(content, "a.bpmn").problems]


def test_what_is_refused():
    assert problems() == [("h", 2, "Must have at least one activity.")]
    assert problems(start("s"), task("A")) == [("h", 2, "Must not contain a start event.")]
    assert problems(task("A"), end("e")) == [("h", 2, "Must not contain an end event.")]
    assert problems(ON_ERROR) == [
        ("h", 2, "has no element that can be activated: one without incoming flows"),
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"into": "all"}, "outputElement:'' and outputCollection:'all'."),
        ({"output": "=1"}, "outputElement:'=1' and outputCollection:''."),
    ],
)
def test_output_element_and_collection_belong_together(settings, message):
    both = "OutputElement and OutputCollection must both be set, or neither of them set. "
    assert problems(task("A"), **settings) == [("h", 2, both + message)]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"cancelRemainingInstances": "false"}, "cancelRemainingInstances"),
        ({"until": "=true"}, "completionCondition"),
        ({"active": "=[]"}, "activeElementsCollection"),
    ],
)
def test_a_worker_decides_alone(settings, what):
    text = f"Must not define {what} in combination with zeebe:taskDefinition."
    assert problems(task("A"), job="agent", **settings) == [("h", 2, text)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ordering="Random"', "ordering: 'Random' is none of Parallel, Sequential"),
        ('triggeredByEvent="true"', "an event sub-process cannot be an ad-hoc sub-process"),
        ('cancelRemainingInstances="no"', "cancelRemainingInstances='no' is neither true nor false"),
    ],
)
def test_attributes(text, message):
    assert attribute(text) == [("h", 2, message)]


def test_expressions_must_be_expressions():
    messages = [message for _, _, message in problems(task("A"), active="A", output="b", into="c d", until="done")]
    assert [message.partition(":")[0] for message in messages] == [
        "activeElementsCollection",
        "outputElement",
        "outputCollection",
        "completionCondition",
    ]


def node(*parts, **settings):
    parsed = parse(process(start(), ad_hoc("h", *parts, **settings), "start > h"), "a.bpmn")
    assert parsed.problems == ()
    assert [str(warning) for warning in parsed.warnings] == []
    return parsed.processes[0].nodes["h"]


def test_what_can_be_activated_in_the_order_of_the_file():
    bound = '<boundaryEvent id="b" attachedToRef="C"><errorEventDefinition/></boundaryEvent>'
    throw = '<intermediateThrowEvent id="t"/>'
    found = node(task("C"), bound, ON_ERROR, throw, par("g"), task("D"), "g > D")
    assert list(found.ad_hoc.activatable) == ["C", "t", "g"]


def test_elements_that_reach_the_same_node_share_a_bit():
    parts = (task("A"), task("B"), task("C"), par("j"), task("D"), task("E"), "A > j", "B > D > j > E", "C > E")
    bits = node(*parts).ad_hoc.activatable
    assert bits["A"] & bits["B"]
    assert bits["A"] & bits["C"], "both reach E"
    assert not node(task("A"), task("B")).ad_hoc.activatable["A"]


FROM_AI = [
    ("fromAi(toolCall.a)", {"name": "toolCall.a"}),
    ('1 + fromAi(x, "d", "number")', {"name": "x", "description": "d", "type": "number"}),
    (
        'fromAi(value: t.a, options: {required: false}, schema: {enum: ["a", "b"]})',
        {"name": "t.a", "schema": {"enum": ["a", "b"]}, "options": {"required": False}},
    ),
    ("fromAi(x, null, null)", {"name": "x"}),
]


@pytest.mark.parametrize(("expression", "parameter"), FROM_AI)
def test_parameters(expression, parameter):
    found = node(task("A", inputs=[(f"={expression}", "y")]))
    assert found.presets["adHocSubProcessElements"][0]["parameters"] == [parameter]


def test_parameters_come_from_all_expressions_but_outputs():
    tool = task("A", type="=fromAi(b)", inputs=[("=[fromAi(c), fromAi(d)]", "y")], outputs=[("=fromAi(e)", "z")])
    found = node(tool).presets["adHocSubProcessElements"]
    assert [parameter["name"] for parameter in found[0]["parameters"]] == ["c", "d", "b"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "fromAi(1)",
            "Expected fromAi() parameter 'value' to be a reference (e.g. 'toolCall.customParameter'), but received '1'",
        ),
        ("fromAi(x, y)", "Expected fromAi() parameter 'description' to be a string, but received 'y'"),
        ("fromAi(x, null, 1)", "Expected fromAi() parameter 'type' to be a string, but received '1'"),
        (
            'fromAi(x, "a", "b", "c")',
            "Expected fromAi() parameter 'schema' to be a context, but received 'c'",
        ),
    ],
)
def test_wrong_parameters(expression, message):
    found = problems(task("A", inputs=[(f"={expression} + z", "y")]))
    assert found == [("A", 2, message)]


def test_fromai_elsewhere_is_not_read():
    assert parse(process(start(), task("A", inputs=[("=fromAi(1) + x", "y")]), "start > A"), "a.bpmn").problems == ()


def test_it_says_that_an_agent_decides():
    content = ad_hoc("h", task("A"), job="agent").replace(
        "<extensionElements>", '<extensionElements><zeebe:agentDefinition agentType="x"/>', 1
    )
    assert parse(process(start(), content, "start > h"), "a.bpmn").problems == ()
