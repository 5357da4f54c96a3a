"""Files that are damaged, or say what is not executed: each kind is refused, or the deployment warns of it."""

import pytest

from vivero.core.bpmn.parser import parse

START = '<startEvent id="s"/><task id="a"/><endEvent id="e"/>'
FLOWS = '<sequenceFlow id="f" sourceRef="s" targetRef="a"/><sequenceFlow id="g" sourceRef="a" targetRef="e"/>'
POOLS = '<collaboration id="c"><participant id="pool" processRef="p"/><participant id="other"/>\n{}</collaboration>'


def flow(source, target, more=""):
    return POOLS.format(f'<messageFlow id="m" sourceRef="{source}" targetRef="{target}"{more}/>')


def lanes(*contents):
    inner = "\n".join(f'<lane id="l{number}">{content}</lane>' for number, content in enumerate(contents))
    return f'<laneSet id="ls">{inner}</laneSet>'


def in_lane(node):
    return f"<flowNodeRef>{node}</flowNodeRef>"


NOT_HERE = "'no' is not an element of this file"
ONE_POOL = "the message flow stays in one pool: message flows lead from one pool to another"

WARNED = {
    "association from nothing": ('<association id="x" sourceRef="no" targetRef="a"/>', "x", f"sourceRef {NOT_HERE}"),
    "association to nothing": ('<association id="x" sourceRef="a" targetRef="no"/>', "x", f"targetRef {NOT_HERE}"),
    "data object": ('<dataObjectReference id="x" dataObjectRef="no"/>', "x", f"dataObjectRef {NOT_HERE}"),
    "data object that is none": (
        '<dataObjectReference id="x" dataObjectRef="a"/>',
        "x",
        "dataObjectRef 'a' is a task, which cannot stand there",
    ),
    "data store": ('<dataStoreReference id="x" dataStoreRef="no"/>', "x", f"dataStoreRef {NOT_HERE}"),
    "group": ('<group id="x" categoryValueRef="no"/>', "x", f"categoryValueRef {NOT_HERE}"),
    "element of a lane": (
        '<laneSet><lane id="x" partitionElementRef="no"><flowNodeRef>a</flowNodeRef></lane></laneSet>',
        "x",
        f"partitionElementRef {NOT_HERE}",
    ),
    "lane without nodes": (lanes(""), "l0", "the lane names no flow node"),
    "lane with nothing": (lanes(in_lane("no")), "l0", "flowNodeRef 'no' is not a flow node of this process"),
    "artifact with the id of a node": (
        '<textAnnotation id="a"/>',
        "a",
        "the id 'a' is already taken by the task in line 2",
    ),
    "two artifacts of one id": (
        '<group id="x"/><textAnnotation id="x"/>',
        "x",
        "the id 'x' is already taken by the group in line 3",
    ),
    "compensation without a handler": (
        '<boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>',
        "b",
        "it has no compensation handler: no association leads to one",
    ),
}
"""Content of the process, the element with the warning, and the warning, in line 3."""


@pytest.mark.parametrize("kind", WARNED)
def test_in_a_process(process, kind):
    content, element, message = WARNED[kind]
    parsed = process(f"{START}{FLOWS}\n{content}")
    assert parsed.deployment_problems == ()
    assert [(one.element_id, one.line, one.message) for one in parsed.warnings] == [(element, 3, message)]


OF_FILES = {
    "flow from nothing": (flow("no", "a"), "m", 4, f"sourceRef {NOT_HERE}"),
    "flow to nothing": (flow("other", "no"), "m", 4, f"targetRef {NOT_HERE}"),
    "flow with no message": (flow("other", "a", ' messageRef="no"'), "m", 4, f"messageRef {NOT_HERE}"),
    "flow to a flow": (flow("other", "f"), "m", 4, "targetRef 'f' is a sequenceFlow, which cannot stand there"),
    "flow in one pool": (flow("a", "e2"), "m", 4, ONE_POOL),
    "flow from a pool into it": (flow("pool", "a"), "m", 4, ONE_POOL),
    "flow to itself": (flow("other", "other"), "m", 4, ONE_POOL),
    "flow from a start event": (flow("s", "other"), "m", 4, "leaves a startEvent, which sends no message"),
    "flow to an end event": (flow("other", "e"), "m", 4, "leads to an endEvent, which receives no message"),
    "pool of no process": (
        '<collaboration id="c"><participant id="pool" processRef="no"/></collaboration>',
        "pool",
        3,
        f"processRef {NOT_HERE}",
    ),
    "collaboration with the id of the process": (
        '<collaboration id="p"/>',
        "p",
        3,
        "the id 'p' is already taken by the process in line 2",
    ),
    "pool with the id of a node": (
        '<collaboration id="c"><participant id="a" processRef="p"/></collaboration>',
        "a",
        3,
        "the id 'a' is already taken by the task in line 2",
    ),
    "message with the id of a node": (
        '<message id="a" name="m"/>',
        "a",
        3,
        "the id 'a' is already taken by the task in line 2",
    ),
    "item of a message": ('<message id="m" name="m" itemRef="no"/>', "m", 3, f"itemRef {NOT_HERE}"),
    "structure of a signal": ('<signal id="m" name="m" structureRef="no"/>', "m", 3, f"structureRef {NOT_HERE}"),
    "import": (
        '<import importType="x" location="types.xsd" namespace="urn:x"/>',
        None,
        3,
        "import of 'types.xsd' has no effect: no other file is read",
    ),
    "extension": (
        '<extension definition="x:y" mustUnderstand="true"/>',
        None,
        3,
        "the extension 'x:y' must be understood, and has no effect",
    ),
    "choreography": ('<choreography id="x"/>', "x", 3, "the choreography has no effect: only processes are executed"),
}
"""Content behind the process, the element with the warning, its line, and the warning."""


@pytest.mark.parametrize("kind", OF_FILES)
def test_at_the_top_of_a_file(process, kind):
    roots, element, line, message = OF_FILES[kind]
    more = '<task id="e2"/><sequenceFlow id="h" sourceRef="a" targetRef="e2"/>'
    parsed = process(f"{START}{FLOWS}{more}", roots)
    assert parsed.deployment_problems == ()
    assert [(one.element_id, one.line, one.message) for one in parsed.warnings] == [(element, line, message)]


@pytest.mark.parametrize(
    ("language", "warned"),
    [("http://www.w3.org/1999/XPath", True), ("https://www.omg.org/spec/DMN/20191111/FEEL/", False), ("feel", False)],
)
def test_the_language_of_expressions(language, warned):
    content = f'<process id="p" isExecutable="true">{START}{FLOWS}</process>'
    attributes = f'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" expressionLanguage="{language}"'
    parsed = parse(f"<definitions {attributes}>{content}</definitions>".encode(), "test.bpmn")
    expected = [f"expressionLanguage '{language}' has no effect: expressions are FEEL"]
    assert [one.message for one in parsed.warnings] == expected[: 1 if warned else 0]


IN_FLOWS = {
    "incoming of another flow": (
        '<task id="a"><incoming>g</incoming></task>',
        ("a", "incoming 'g' is a flow that this element is no targetRef of: the flow alone counts"),
    ),
    "outgoing of another flow": (
        '<task id="a"><outgoing>f</outgoing></task>',
        ("a", "outgoing 'f' is a flow that this element is no sourceRef of: the flow alone counts"),
    ),
    "converging gateway that forks": (
        '<parallelGateway id="a" gatewayDirection="Converging"/><sequenceFlow id="h" sourceRef="a" targetRef="e"/>',
        ("a", "gatewayDirection Converging has no effect: the gateway has several outgoing flows"),
    ),
    "diverging gateway that joins": (
        '<parallelGateway id="a" gatewayDirection="Diverging"/><sequenceFlow id="h" sourceRef="s" targetRef="a"/>',
        ("a", "gatewayDirection Diverging has no effect: the gateway has several incoming flows"),
    ),
    "condition of a default flow": (
        '<task id="a" default="h"/><sequenceFlow id="h" sourceRef="a" targetRef="e"><conditionExpression>=true'
        "</conditionExpression></sequenceFlow>",
        ("h", "the flow is the default flow of 'a': this condition has no effect"),
    ),
}
"""A node `a` between `s` and `e`, and the warning with its element."""


@pytest.mark.parametrize("kind", IN_FLOWS)
def test_between_nodes(process, kind):
    node, warning = IN_FLOWS[kind]
    parsed = process(f'<startEvent id="s"/><endEvent id="e"/>{node}{FLOWS}')
    assert parsed.deployment_problems == ()
    assert [(one.element_id, one.message) for one in parsed.warnings] == [warning]


def test_a_start_of_a_process_interrupts_nothing(process):
    parsed = process(f"{START}{FLOWS}".replace('id="s"', 'id="s" isInterrupting="false"', 1))
    (warning,) = parsed.warnings
    assert warning.message == "isInterrupting has no effect: only the start event of an event sub-process can interrupt"


def test_compensation_never_interrupts(process):
    compensation = "<compensateEventDefinition/>"
    handler = '<task id="u" isForCompensation="true"/><association id="x" sourceRef="b" targetRef="u"/>'
    boundary = f'<boundaryEvent id="b" attachedToRef="a" cancelActivity="false">{compensation}</boundaryEvent>'
    start = f'<startEvent id="i" isInterrupting="false">{compensation}</startEvent>'
    inner = f'<subProcess id="y" triggeredByEvent="true">{start}</subProcess><startEvent id="t"/>'
    scope = f'<subProcess id="z">{inner}</subProcess><sequenceFlow id="h" sourceRef="a" targetRef="z"/>'
    parsed = process(f"{START}{FLOWS}{boundary}{handler}\n{scope}")
    assert parsed.deployment_problems == ()
    assert [(one.element_id, one.message) for one in parsed.warnings] == [
        ("b", "cancelActivity has no effect: the activity has ended when it is compensated"),
        ("i", "isInterrupting has no effect: the scope has ended when it is compensated"),
    ]


def test_lanes_that_share_a_node(process):
    """Lanes inside of a lane, and those of another set, may name a node again."""
    parsed = process(f"{lanes(in_lane('a'), in_lane('a'))}{START}{FLOWS}")
    assert [one.message for one in parsed.warnings] == ["flowNodeRef 'a' is in the lane 'l0', too"]
    inside = f'{in_lane("a")}<childLaneSet id="in"><lane id="k">{in_lane("a")}</lane></childLaneSet>'
    again = lanes(in_lane("p:a")).replace('"ls"', '"ls2"').replace('"l0"', '"l2"')
    assert process(f"{lanes(inside)}{again}{START}{FLOWS}").warnings == ()


def test_a_drawing_without_faults(process):
    """Data, artifacts, lanes, pools and message flows that name what is there are no warnings."""
    data = '<dataObject id="d"/><dataObjectReference id="r" dataObjectRef="d"/>'
    store = '<dataStoreReference id="t" dataStoreRef="tns:store"/><dataStoreReference id="u"/>'
    note = '<textAnnotation id="n"/><association id="x" sourceRef="a" targetRef="n"/>'
    roots = '<dataStore id="store"/><message id="m1" name="m"/>' + flow("other", "a", ' messageRef="m1"')
    assert process(f"{START}{FLOWS}{data}{store}{note}", roots).warnings == ()


REFUSED = {
    "association without ends": (
        '<association id="x"/>',
        [("x", 3, "the association needs a sourceRef"), ("x", 3, "the association needs a targetRef")],
    ),
    "child of a flow": (
        '<sequenceFlow id="h" sourceRef="s" targetRef="e"><condition/></sequenceFlow>',
        [("h", 3, "the element 'condition' has no place in a sequenceFlow")],
    ),
    "text in the process": ("hello", [("p", 2, "the text 'hello' has no place between elements")]),
    "text in a node": (
        '<task id="b">hello</task><sequenceFlow id="h" sourceRef="s" targetRef="b"/>',
        [("b", 3, "the text 'hello' has no place between elements")],
    ),
    "text behind a child": (
        '<task id="b"><documentation/>hello</task><sequenceFlow id="h" sourceRef="s" targetRef="b"/>',
        [("b", 3, "the text 'hello' has no place between elements")],
    ),
    "direction of a gateway": (
        '<parallelGateway id="b" gatewayDirection="Up"/><sequenceFlow id="h" sourceRef="s" targetRef="b"/>',
        [("b", 3, "gatewayDirection: 'Up' is none of Converging, Diverging, Mixed, Unspecified")],
    ),
}
"""Content of the process, and the problems, in line 3."""


@pytest.mark.parametrize("kind", REFUSED)
def test_a_new_deployment_is_refused(process, kind):
    content, problems = REFUSED[kind]
    parsed = process(f"{START}{FLOWS}\n{content}")
    assert [(one.element_id, one.line, one.message) for one in parsed.deployment_problems] == problems
    assert [process.id for process in parsed.processes] == ["p"], "an instance that runs by it continues"


def test_files_that_are_refused(process):
    parsed = process(f"{START}{FLOWS}", POOLS.format('<messageFlow id="m" sourceRef="other"/>'))
    assert [one.message for one in parsed.deployment_problems] == ["the messageFlow needs a targetRef"]
    parsed = process(f"{START}{FLOWS}", '<message id="m" name="m"><task/></message>')
    assert [one.message for one in parsed.deployment_problems] == ["the element 'task' has no place in a message"]


def test_a_gateway_before_receive_tasks_and_message_events(process):
    key = '<extensionElements><zeebe:subscription correlationKey="=k"/></extensionElements>'
    roots = "".join(f'<message id="{id}" name="{id}">{key}</message>' for id in "mn")
    event = '<intermediateCatchEvent id="c"><{}/></intermediateCatchEvent>'
    flows = "".join(
        f'<sequenceFlow id="{source}{target}" sourceRef="{source}" targetRef="{target}"/>'
        for source, target in ("sx", "xr", "xc")
    )
    content = f'<startEvent id="s"/>\n<eventBasedGateway id="x"/><receiveTask id="r" messageRef="m"/>{flows}'
    parsed = process(content + event.format('messageEventDefinition messageRef="n"'), roots)
    message = "both 'r' and 'c' wait for a message: BPMN allows tasks or events, not both"
    assert [(one.element_id, one.line, one.message) for one in parsed.deployment_problems] == [("x", 3, message)]
    signal = process(content + event.format('signalEventDefinition signalRef="n"'), roots + '<signal id="n" name="n"/>')
    assert signal.deployment_problems == ()


def test_a_fault_of_a_process_that_is_not_executed_is_nobodys(definitions):
    sketch = '<process id="q"><association id="x" sourceRef="no" targetRef="no"/>text</process>'
    parsed = definitions(f'<process id="p" isExecutable="true">{START}{FLOWS}</process>{sketch}')
    assert parsed.deployment_problems == ()
    assert [one.message for one in parsed.warnings] == [
        "the process 'q' is not marked executable (isExecutable), so it is not deployed"
    ]
