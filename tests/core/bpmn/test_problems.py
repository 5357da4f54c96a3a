"""Each thing that is refused: the reason, the element and the line, and nothing else besides."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.reading.xml import LIMITS, ZEEBE

S = '<startEvent id="s" />'
TASK = "<extensionElements><zeebe:taskDefinition type='t' /></extensionElements>"
LISTENERS = "<zeebe:executionListeners><zeebe:executionListener /></zeebe:executionListeners>"
GATEWAY = f'{S}<sequenceFlow id="f" sourceRef="s" targetRef="g" /><endEvent id="a" /><endEvent id="b" />'


def where(parsed):
    assert parsed.processes == () or parsed.problems == ()
    return [(problem.element_id, problem.line, problem.message) for problem in parsed.problems]


def task(*, inside="", attributes="", definition="<zeebe:taskDefinition type='t' />", children=""):
    """A service task in line 3, its extension elements in line 4, its other children in line 5."""
    return (
        f'{S}\n<serviceTask id="t" {attributes}><extensionElements>\n{definition}{inside}</extensionElements>'
        f"\n{children}</serviceTask>"
    )


def mapping(child):
    return task(inside=f"<zeebe:ioMapping>\n{child}</zeebe:ioMapping>")


def flow(**attributes):
    return "<sequenceFlow " + " ".join(f'{name}="{value}"' for name, value in attributes.items()) + " />"


def condition(text):
    """An exclusive gateway whose first flow, in line 3, has this condition in line 4."""
    return (
        f'{GATEWAY}<exclusiveGateway id="g" default="d" />\n<sequenceFlow id="c" sourceRef="g" targetRef="a">'
        f"\n<conditionExpression>{text}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="d" sourceRef="g" targetRef="b" />'
    )


ONE_HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


def catch(id):
    return (
        f'<intermediateCatchEvent id="{id}"><timerEventDefinition><timeDuration>PT1H</timeDuration>'
        "</timerEventDefinition></intermediateCatchEvent>"
    )


NODES_NOT_YET = {
    "implicitThrowEvent": "an implicit throw event is not executable yet",
    "event": "an event without a position in the flow cannot be executed",
    "choreographyTask": "a choreography cannot be executed",
    "callChoreography": "a choreography cannot be executed",
    "subChoreography": "a choreography cannot be executed",
}


@pytest.mark.parametrize(("tag", "message"), NODES_NOT_YET.items())
def test_elements_that_are_not_executable_yet(process, tag, message):
    """A flow that leads to a refused element is no second problem."""
    parsed = process(f'{S}\n<{tag} id="x" />{flow(id="f", sourceRef="s", targetRef="x")}')
    assert where(parsed) == [("x", 3, message)]


EVENTS_NOT_YET = {
    "eventDefinition": "an event definition of no kind cannot be executed",
}


@pytest.mark.parametrize("event", ["startEvent", "endEvent"])
@pytest.mark.parametrize(("tag", "message"), EVENTS_NOT_YET.items())
def test_event_definitions_are_not_executable_yet(process, event, tag, message):
    rest = "" if event == "startEvent" else S
    assert where(process(f'{rest}<{event} id="x">\n<{tag} id="own-id" /></{event}>')) == [("x", 3, message)]


ROOTS = (
    '<signal id="s1" name="one" /><signal id="s2" name="two" /><signal id="s3" name="one" />'
    '<error id="e" errorCode="E" /><escalation id="c" escalationCode="C" />'
    '<timerEventDefinition id="shared"><timeDuration>PT1H</timeDuration></timerEventDefinition>'
)
SIGNAL, OTHER = '<signalEventDefinition signalRef="s1" />', '<signalEventDefinition signalRef="s2" />'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
CONDITION = "<conditionalEventDefinition><condition>=a</condition></conditionalEventDefinition>"
ERROR, ESCALATION = '<errorEventDefinition errorRef="e" />', '<escalationEventDefinition escalationRef="c" />'
TERMINATE, LINK = "<terminateEventDefinition />", '<linkEventDefinition name="l" />'
NO_WAIT, NO_THROW = "of several definitions of an event that waits", "of several definitions of an event that throws"

SEVERAL = {
    "one that waits for an error": (
        "intermediateCatchEvent",
        f"{SIGNAL}\n{ERROR}",
        [
            (4, "an error event cannot be an intermediate catch event"),
            (4, f"errorEventDefinition cannot be one {NO_WAIT}"),
        ],
    ),
    "one that waits for a link": (
        "intermediateCatchEvent",
        f"{SIGNAL}\n{LINK}",
        [(4, f"linkEventDefinition cannot be one {NO_WAIT}")],
    ),
    "two timers": (
        "intermediateCatchEvent",
        f"{TIMER}\n{TIMER}",
        [(4, "a second timer: an event waits for at most one timer")],
    ),
    "two conditions": (
        "intermediateCatchEvent",
        f"{CONDITION}\n{CONDITION}",
        [(4, "a second condition: an event waits for at most one condition")],
    ),
    "the same signal twice": (
        "intermediateCatchEvent",
        f'{SIGNAL}\n<signalEventDefinition signalRef="s3" />',
        [(2, "'x' waits for the signal 'one' already")],
    ),
    "one that throws a link": (
        "intermediateThrowEvent",
        f"{SIGNAL}\n{LINK}",
        [
            (4, "linkEventDefinition cannot be one of several definitions of an event that throws"),
            (4, "no catching link event in this scope has the name 'l'"),
        ],
    ),
    "an error that is not the last": (
        "endEvent",
        f"{ERROR}\n{SIGNAL}",
        [(3, "errorEventDefinition: the definitions behind it would never be thrown")],
    ),
    "a termination before an error": (
        "endEvent",
        f"{TERMINATE}\n{ERROR}",
        [(3, "terminateEventDefinition: the definitions behind it would never be thrown")],
    ),
    "an error of a throw event": (
        "intermediateThrowEvent",
        f"{SIGNAL}\n{ERROR}",
        [
            (4, "an error event cannot be an intermediate throw event"),
            (4, f"errorEventDefinition cannot be one {NO_THROW}"),
        ],
    ),
    "one that is not executable": (
        "endEvent",
        f"{SIGNAL}\n<eventDefinition />",
        [
            (4, "an event definition of no kind cannot be executed"),
        ],
    ),
    "a reference to nothing": (
        "intermediateCatchEvent",
        "\n<eventDefinitionRef>nothing</eventDefinitionRef>",
        [(4, "eventDefinitionRef 'nothing' is not an event definition of this file")],
    ),
    "a reference to something else": (
        "intermediateCatchEvent",
        "\n<eventDefinitionRef>s1</eventDefinitionRef>",
        [(4, "eventDefinitionRef 's1' is not an event definition of this file")],
    ),
    "a reference to what cannot stand there": (
        "endEvent",
        "\n<eventDefinitionRef>shared</eventDefinitionRef>",
        [(5, "a timer event cannot be an end event")],
    ),
}


@pytest.mark.parametrize(("tag", "inside", "problems"), SEVERAL.values(), ids=SEVERAL)
def test_several_and_shared_event_definitions(process, tag, inside, problems):
    parsed = process(f'{S}<{tag} id="x">\n{inside}</{tag}>', ROOTS)
    assert sorted(where(parsed)) == sorted(("x", line, message) for line, message in problems)


def test_copies_of_shared_definitions_are_limited(process):
    large = "x" * 50_000
    documented = f'<signalEventDefinition id="large" signalRef="s1"><documentation>{large}</documentation>'
    shared = f"{documented}</signalEventDefinition>"
    reference = "<eventDefinitionRef>large</eventDefinitionRef>"
    events = "".join(
        f'<intermediateCatchEvent id="c{number}">{reference}</intermediateCatchEvent>' for number in range(100)
    )
    found = where(process(S + events, ROOTS + shared))
    text = f"the event definitions that events refer to would have more than {LIMITS.bytes} bytes"
    assert (None, None, text) in found


ELEMENTS = {
    "start quantity": (
        task(attributes='startQuantity="1001"'),
        [("t", 3, "startQuantity: '1001' is not a whole number from 1 to 1000")],
    ),
    "negative start quantity": (
        task(attributes='startQuantity="-1"'),
        [("t", 3, "startQuantity: '-1' is not a whole number from 1 to 1000")],
    ),
    "quantity that is no number": (
        task(attributes='completionQuantity="two"'),
        [("t", 3, "completionQuantity: 'two' is not a whole number from 1 to 1000")],
    ),
    "quantity of an event sub-process": (
        f'{S}\n<subProcess id="x" triggeredByEvent="true" startQuantity="2"><startEvent id="y">{ONE_HOUR}'
        "</startEvent></subProcess>",
        [("x", 3, "an event sub-process cannot have a startQuantity: it has no flows")],
    ),
    "completion quantity": (
        task(attributes='completionQuantity="0"'),
        [("t", 3, "completionQuantity: '0' is not a whole number from 1 to 1000")],
    ),
    "flag that is none": (
        task(attributes='isForCompensation="yes"'),
        [("t", 3, "isForCompensation='yes' is neither true nor false")],
    ),
    "correlation subscription": (
        f"{S}\n<correlationSubscription correlationKeyRef='k' />",
        [("p", 3, "correlation by a correlation subscription is not executable")],
    ),
    "unknown element": (f"{S}\n<serviceTsk id='t' />", [("t", 3, "the element 'serviceTsk' has no place here")]),
    "unknown element without an id": (f"{S}\n<serviceTsk />", [("p", 3, "the element 'serviceTsk' has no place here")]),
    "unknown child": (task(children="<lane />"), [("t", 5, "the element 'lane' has no place here")]),
    "flow node inside of a task": (
        task(children="<implicitThrowEvent id='u' />"),
        [("t", 5, "an implicit throw event is not executable yet")],
    ),
    "executable flow node inside of a task": (
        task(children="<serviceTask id='u' />"),
        [("t", 5, "the element 'serviceTask' has no place here")],
    ),
    "element of no namespace": (
        f"{S}\n<serviceTask xmlns='' id='t' />",
        [("t", 3, "the element 'serviceTask' of no namespace belongs into extensionElements")],
    ),
    "extension outside of its place": (
        f'{S}<serviceTask id="t">{TASK}\n<zeebe:ioMapping /></serviceTask>',
        [
            (
                "t",
                3,
                f"the element 'ioMapping' of namespace '{ZEEBE}' belongs into extensionElements",
            )
        ],
    ),
}


@pytest.mark.parametrize(("content", "problems"), ELEMENTS.values(), ids=ELEMENTS)
def test_elements_and_attributes(process, content, problems):
    assert where(process(content)) == problems


STRUCTURE = {
    "nothing that could begin": (
        f'<task id="a" /><task id="b" />{flow(id="f", sourceRef="a", targetRef="b")}'
        f"{flow(id='g', sourceRef='b', targetRef='a')}",
        [("p", 2, "needs a start event")],
    ),
    "only an event sub-process": (
        f'{S}\n<subProcess id="x"><subProcess id="h" triggeredByEvent="true"><startEvent id="y">{ONE_HOUR}</startEvent>'
        "</subProcess></subProcess>",
        [("x", 3, "needs a start event")],
    ),
    "empty sub-process": (f'{S}\n<subProcess id="x" />', [("x", 3, "needs a start event")]),
    "three start events": (
        f'{S}\n<startEvent id="s2" />\n<startEvent id="s3" />',
        [
            ("s2", 3, "a second none start event: 's' is one already"),
            ("s3", 4, "a second none start event: 's' is one already"),
        ],
    ),
    "two start events in a sub-process": (
        f'{S}<subProcess id="x"><startEvent id="i" />\n<startEvent id="j" /></subProcess>',
        [("j", 3, "a second none start event: 'i' is one already")],
    ),
    "flow to a start event": (
        f'{S}<subProcess id="x"><startEvent id="i" /></subProcess>\n{flow(id="f", sourceRef="x", targetRef="s")}',
        [("f", 3, "leads to the start event 's'")],
    ),
    "flow out of an end event": (
        f'{S}<endEvent id="e" /><endEvent id="e2" />\n{flow(id="f", sourceRef="e", targetRef="e2")}',
        [("f", 3, "leaves the end event 'e'")],
    ),
    "flow to nowhere": (
        f"{S}\n{flow(id='f', sourceRef='s', targetRef='nobody')}",
        [("f", 3, "targetRef 'nobody' is not a flow node of this process")],
    ),
    "flow from nowhere to nowhere": (
        f"{S}\n{flow(id='f', sourceRef='nobody', targetRef='note')}<textAnnotation id='note' />",
        [
            ("f", 3, "sourceRef 'nobody' is not a flow node of this process"),
            ("f", 3, "targetRef 'note' is not a flow node of this process"),
        ],
    ),
    "flow to another flow": (
        f"{S}<endEvent id='e' />{flow(id='f', sourceRef='s', targetRef='e')}"
        f"\n{flow(id='g', sourceRef='s', targetRef='f')}",
        [("g", 3, "targetRef 'f' is not a flow node of this process")],
    ),
    "flow to the process": (
        f"{S}\n{flow(id='f', sourceRef='s', targetRef='p')}",
        [("f", 3, "targetRef 'p' is not a flow node of this process")],
    ),
    "flow without ends": (
        f"{S}\n<sequenceFlow id='f' />",
        [("f", 3, "the sequence flow needs a sourceRef"), ("f", 3, "the sequence flow needs a targetRef")],
    ),
    "flow into a sub-process": (
        f'{S}<subProcess id="x"><startEvent id="i" /><endEvent id="e" /></subProcess>'
        f"\n{flow(id='f', sourceRef='s', targetRef='e')}",
        [("f", 3, "leads from 's' to 'e' across a scope's border")],
    ),
    "flow out of a sub-process": (
        f'{S}<endEvent id="e" /><subProcess id="x"><startEvent id="i" />'
        f"\n{flow(id='f', sourceRef='i', targetRef='e')}</subProcess>",
        [("f", 3, "leads from 'i' to 'e' across a scope's border")],
    ),
    "flow into its own sub-process": (
        f'{S}<subProcess id="x"><startEvent id="i" /></subProcess>\n{flow(id="f", sourceRef="x", targetRef="i")}',
        [
            ("f", 3, "leads from 'x' to 'i' across a scope's border"),
        ],
    ),
    "node without an id": (f"{S}\n<serviceTask />", [(None, 3, "the serviceTask needs an id")]),
    "node with a blank id": (f"{S}\n<endEvent id=' ' />", [(" ", 3, "the endEvent needs an id")]),
    "refused node without an id": (
        f"{S}\n<implicitThrowEvent />",
        [(None, 3, "an implicit throw event is not executable yet"), (None, 3, "the implicitThrowEvent needs an id")],
    ),
    "flow with an empty id": (
        f"{S}<endEvent id='e' />\n{flow(id='', sourceRef='s', targetRef='e')}",
        [("", 3, "the sequenceFlow needs an id")],
    ),
    "two nodes of one id": (f"{S}\n<endEvent id='s' />", [("s", 3, "the id 's' is already taken in line 2")]),
    "a node and a flow of one id": (
        f"{S}<endEvent id='e' />\n{flow(id='s', sourceRef='s', targetRef='e')}",
        [("s", 3, "the id 's' is already taken in line 2")],
    ),
    "a node with the id of the process": (
        f"{S}\n<endEvent id='p' />",
        [("p", 3, "the id 'p' is already taken in line 2")],
    ),
    "nodes of one id in different scopes": (
        f"{S}<subProcess id='x'>\n<startEvent id='s' /></subProcess>",
        [("s", 3, "the id 's' is already taken in line 2")],
    ),
    "long id": (f"{S}\n<endEvent id='{'x' * 256}' />", [("x" * 255, 3, "the id has more than 255 characters")]),
    "long name": (
        f"{S}\n<endEvent id='e' name='{'x' * 4001}' />",
        [("e", 3, "the name has more than 4000 characters")],
    ),
}


@pytest.mark.parametrize(("content", "problems"), STRUCTURE.values(), ids=STRUCTURE)
def test_structure(process, content, problems):
    assert where(process(content)) == problems


GATEWAYS = {
    "flow without a condition": (
        f'{GATEWAY}<exclusiveGateway id="g" default="d" />{flow(id="d", sourceRef="g", targetRef="a")}'
        f"\n{flow(id='c', sourceRef='g', targetRef='b')}",
        [("c", 3, "needs a condition, or to be the default flow of 'g'")],
    ),
    "two flows without a condition": (
        f'{GATEWAY}<exclusiveGateway id="g" />\n{flow(id="c", sourceRef="g", targetRef="a")}'
        f"\n{flow(id='d', sourceRef='g', targetRef='b')}",
        [
            ("c", 3, "needs a condition, or to be the default flow of 'g'"),
            ("d", 4, "needs a condition, or to be the default flow of 'g'"),
        ],
    ),
    "default that does not exist": (
        f'{GATEWAY}\n<exclusiveGateway id="g" default="nothing" />',
        [("g", 3, "the default flow 'nothing' does not leave this element")],
    ),
    "default that leaves another node": (
        f'{GATEWAY}\n<exclusiveGateway id="g" default="f" />{flow(id="c", sourceRef="g", targetRef="a")}',
        [("g", 3, "the default flow 'f' does not leave this element")],
    ),
    "default of a task that does not exist": (
        task(attributes='default="d"') + f'<endEvent id="a" />{flow(id="c", sourceRef="t", targetRef="a")}',
        [("t", 3, "the default flow 'd' does not leave this element")],
    ),
    "default of a task that leaves another node": (
        task(attributes='default="f"') + f'<endEvent id="a" />{flow(id="f", sourceRef="s", targetRef="a")}',
        [("t", 3, "the default flow 'f' does not leave this element")],
    ),
    "default of an event": (
        f'{S}\n<intermediateThrowEvent id="t" default="c" /><endEvent id="a" />'
        f"{flow(id='c', sourceRef='t', targetRef='a')}",
        [("t", 3, "a default flow is taken only from an activity or an exclusive, inclusive or complex gateway")],
    ),
    "default of a parallel gateway": (
        f'{GATEWAY}\n<parallelGateway id="g" default="c" />{flow(id="c", sourceRef="g", targetRef="a")}',
        [("g", 3, "a default flow is taken only from an activity or an exclusive, inclusive or complex gateway")],
    ),
    "condition behind a task that is no expression": (
        task() + '<endEvent id="a" />\n<sequenceFlow id="c" sourceRef="t" targetRef="a">'
        "<conditionExpression>true</conditionExpression></sequenceFlow>",
        [("c", 6, "condition: 'true' is not an expression: '=' and FEEL behind it")],
    ),
    "condition behind an event-based gateway": (
        f'{GATEWAY}<eventBasedGateway id="g" />'
        f"{catch('m')}{catch('n')}{flow(id='d', sourceRef='g', targetRef='m')}"
        '\n<sequenceFlow id="c" sourceRef="g" targetRef="n">'
        "<conditionExpression>=true</conditionExpression></sequenceFlow>",
        [
            (
                "c",
                3,
                "a condition is evaluated only on a flow that leaves an activity or an exclusive, inclusive or complex "
                "gateway",
            )
        ],
    ),
    "condition behind a start event": (
        f'{S}<endEvent id="a" />\n<sequenceFlow id="c" sourceRef="s" targetRef="a">'
        "<conditionExpression>=true</conditionExpression></sequenceFlow>",
        [
            (
                "c",
                3,
                "a condition is evaluated only on a flow that leaves an activity or an exclusive, inclusive or complex "
                "gateway",
            )
        ],
    ),
    "condition that is no expression": (
        condition("x &gt; 1"),
        [("c", 4, "condition: 'x > 1' is not an expression: '=' and FEEL behind it")],
    ),
    "empty condition": (condition(" "), [("c", 4, "condition: '' is not an expression: '=' and FEEL behind it")]),
    "only the sign of an expression": (
        condition("="),
        [("c", 4, "condition: '=' is not an expression: '=' and FEEL behind it")],
    ),
    "two conditions": (
        condition("=true</conditionExpression>\n<conditionExpression>=false"),
        [("c", 5, "has more than one condition")],
    ),
    "extension on a flow": (
        f"{S}<endEvent id='e' /><sequenceFlow id='f' sourceRef='s' targetRef='e'><extensionElements>"
        f"\n{LISTENERS}</extensionElements></sequenceFlow>",
        [("f", 3, "zeebe:executionListeners has no effect on this element")],
    ),
}


@pytest.mark.parametrize(("content", "problems"), GATEWAYS.values(), ids=GATEWAYS)
def test_gateways_and_conditions(process, content, problems):
    assert where(process(content)) == problems


EXTENSIONS_NOT_YET = {
    "error": "variables of a caught error are",
}


@pytest.mark.parametrize(("name", "what"), EXTENSIONS_NOT_YET.items())
def test_extensions_that_are_not_executable_yet(process, name, what):
    parsed = process(task(inside=f"\n<zeebe:{name}><zeebe:child /></zeebe:{name}>"))
    assert where(parsed) == [("t", 5, f"zeebe:{name}: {what} not executable yet")]


NUMBER = "is not a whole number from 0 to 2147483647"
TARGET = "is not a variable name or names joined by dots"
EXTENSIONS = {
    "no task definition": (task(definition=""), [("t", 3, "needs a zeebe:taskDefinition with the type of the job")]),
    "no extension elements": (
        f"{S}\n<serviceTask id='t' />",
        [("t", 3, "needs a zeebe:taskDefinition with the type of the job")],
    ),
    "no type": (task(definition="<zeebe:taskDefinition />"), [("t", 4, "zeebe:taskDefinition needs a type")]),
    "blank type": (
        task(definition="<zeebe:taskDefinition type=' ' />"),
        [("t", 4, "zeebe:taskDefinition needs a type")],
    ),
    "long type": (
        task(definition=f"<zeebe:taskDefinition type='{'x' * 1025}' />"),
        [("t", 4, "the job type has more than 1024 bytes")],
    ),
    "retries not a number": (
        task(definition="<zeebe:taskDefinition type='t' retries='three' />"),
        [("t", 4, f"retries: 'three' {NUMBER}")],
    ),
    "empty retries": (
        task(definition="<zeebe:taskDefinition type='t' retries='' />"),
        [("t", 4, f"retries: '' {NUMBER}")],
    ),
    "negative retries": (
        task(definition="<zeebe:taskDefinition type='t' retries='-1' />"),
        [("t", 4, f"retries: '-1' {NUMBER}")],
    ),
    "half retries": (
        task(definition="<zeebe:taskDefinition type='t' retries='1.5' />"),
        [("t", 4, f"retries: '1.5' {NUMBER}")],
    ),
    "retries in other digits": (
        task(definition="<zeebe:taskDefinition type='t' retries='٣' />"),
        [("t", 4, f"retries: '٣' {NUMBER}")],
    ),
    "too many retries": (
        task(definition="<zeebe:taskDefinition type='t' retries='2147483648' />"),
        [("t", 4, f"retries: '2147483648' {NUMBER}")],
    ),
    "type and retries wrong": (
        task(definition="<zeebe:taskDefinition retries='x' />"),
        [("t", 4, "zeebe:taskDefinition needs a type"), ("t", 4, f"retries: 'x' {NUMBER}")],
    ),
    "priority not a number": (
        task(inside="<zeebe:jobPriorityDefinition priority='high' />"),
        [("t", 4, "job priority: 'high' is not a whole number from -2147483648 to 2147483647")],
    ),
    "priority missing": (
        task(inside="<zeebe:jobPriorityDefinition />"),
        [("t", 4, "job priority: '' is not a whole number from -2147483648 to 2147483647")],
    ),
    "priority of the process": (
        "<extensionElements>\n<zeebe:jobPriorityDefinition priority='1.0' /></extensionElements>" + S,
        [("p", 3, "job priority: '1.0' is not a whole number from -2147483648 to 2147483647")],
    ),
    "version tag without a value": (
        "<extensionElements>\n<zeebe:versionTag value=' ' /></extensionElements>" + S,
        [("p", 3, "zeebe:versionTag needs a value of 1 to 255 characters")],
    ),
    "header without a key": (
        task(inside="<zeebe:taskHeaders>\n<zeebe:header value='v' /></zeebe:taskHeaders>"),
        [("t", 5, "zeebe:header needs a key")],
    ),
    "header twice": (
        task(
            inside="<zeebe:taskHeaders><zeebe:header key='k' value='1' />\n<zeebe:header key='k' value='1' />"
            "</zeebe:taskHeaders>"
        ),
        [("t", 5, "the header 'k' stands here twice")],
    ),
    "task definition twice": (
        task(inside="\n<zeebe:taskDefinition type='u' />"),
        [("t", 5, "zeebe:taskDefinition stands here twice")],
    ),
    "mapping without a target": (
        mapping("<zeebe:input source='=1' />"),
        [("t", 5, f"target of the input mapping: '' {TARGET}")],
    ),
    "mapping to no name": (
        mapping("<zeebe:output source='=1' target='a b' />"),
        [("t", 5, f"target of the output mapping: 'a b' {TARGET}")],
    ),
    "mapping to an empty part": (
        mapping("<zeebe:input source='=1' target='a..b' />"),
        [("t", 5, f"target of the input mapping: 'a..b' {TARGET}")],
    ),
    "mapping to an expression": (
        mapping("<zeebe:input source='=1' target='=a' />"),
        [("t", 5, f"target of the input mapping: '=a' {TARGET}")],
    ),
    "unknown extension": (
        task(inside="\n<zeebe:teleport />"),
        [("t", 5, "zeebe:teleport is not a known extension")],
    ),
    "task definition of a start event": (
        "<startEvent id='s'><extensionElements>\n<zeebe:taskDefinition type='t' /></extensionElements></startEvent>",
        [("s", 3, "zeebe:taskDefinition has no effect on this element")],
    ),
    "mapping of a gateway": (
        f"{S}<parallelGateway id='g'><extensionElements>\n<zeebe:ioMapping><zeebe:input target='x' /></zeebe:ioMapping>"
        "</extensionElements></parallelGateway>",
        [("g", 3, "zeebe:ioMapping has no effect on this element")],
    ),
    "mapping of the process": (
        f"<extensionElements>\n<zeebe:ioMapping><zeebe:input target='x' /></zeebe:ioMapping></extensionElements>{S}",
        [("p", 3, "zeebe:ioMapping has no effect on this element")],
    ),
}


@pytest.mark.parametrize(("content", "problems"), EXTENSIONS.values(), ids=EXTENSIONS)
def test_extensions(process, content, problems):
    assert where(process(content)) == problems


FEEL = {
    "condition": (condition("=x &gt;"), "c", 4, "condition"),
    "job type": (task(definition="<zeebe:taskDefinition type='=a +' />"), "t", 4, "job type"),
    "retries": (task(definition="<zeebe:taskDefinition type='t' retries='=)' />"), "t", 4, "retries"),
    "job priority": (task(inside="<zeebe:jobPriorityDefinition priority='=[' />"), "t", 4, "job priority"),
    "input": (mapping("<zeebe:input source='=(1' target='a' />"), "t", 5, "source of the input mapping"),
    "output": (mapping("<zeebe:output source='=1 1' target='a' />"), "t", 5, "source of the output mapping"),
}


@pytest.mark.parametrize(("content", "element_id", "line", "what"), FEEL.values(), ids=FEEL)
def test_invalid_feel_tells_what_and_where(process, content, element_id, line, what):
    ((found_id, found_line, message),) = where(process(content))
    assert (found_id, found_line) == (element_id, line)
    assert message.startswith(f"{what}: '")
    assert "is not valid FEEL: line 1, column " in message


FILES = {
    "no process": ("", [(None, 1, "there is no process in it")]),
    "only a sketch": (
        "<process id='p' />",
        [(None, 1, 'no process in it is executable (isExecutable="true")')],
    ),
    "explicitly not executable": (
        "<process id='p' isExecutable='false'><serviceTask /></process>",
        [(None, 1, 'no process in it is executable (isExecutable="true")')],
    ),
    "executable, perhaps": (
        "<process id='p' isExecutable='TRUE' />",
        [
            (None, 1, 'no process in it is executable (isExecutable="true")'),
            ("p", 2, "isExecutable='TRUE' is neither true nor false"),
        ],
    ),
    "process without an id": (
        f"<process isExecutable='true'>{S}</process>",
        [(None, 2, "the process needs an id")],
    ),
    "process id that the API does not allow": (
        f"<process id='9 lives' isExecutable='true'>{S}</process>",
        [("9 lives", 2, r"the process id '9 lives' does not match [\p{L}_][\p{L}\p{N}_\-.]*")],
    ),
    "two processes of one id": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<process id='p' isExecutable='true'>{S}</process>",
        [("p", 3, "the id 'p' is already taken in line 2")],
    ),
    "two nodes of one id in two processes": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<process id='q' isExecutable='true'>{S}</process>",
        [("s", 3, "the id 's' is already taken in line 2")],
    ),
    "flow between two processes": (
        f"<process id='p' isExecutable='true'>{S}<endEvent id='e' /></process>\n<process id='q' isExecutable='true'>"
        "<startEvent id='s2' /><sequenceFlow id='f' sourceRef='s2' targetRef='e' /></process>",
        [("f", 3, "targetRef 'e' is not a flow node of this process")],
    ),
    "a flow node outside of any process": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<serviceTask id='t' />",
        [("t", 3, "the element 'serviceTask' has no place at the top of a file")],
    ),
    "a process by the wrong name": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<Process id='q' />",
        [("q", 3, "the element 'Process' has no place at the top of a file")],
    ),
    "a process of no namespace": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<process xmlns='' id='q' />",
        [("q", 3, "the element 'process' has no place at the top of a file")],
    ),
    "one executable process is wrong": (
        f"<process id='p' isExecutable='true'>{S}</process>\n<process id='q' isExecutable='true' />",
        [("q", 3, "needs a start event")],
    ),
}


@pytest.mark.parametrize(("content", "problems"), FILES.values(), ids=FILES)
def test_files(definitions, content, problems):
    assert where(definitions(content)) == problems


def test_all_problems_come_at_once_in_the_order_of_lines(process):
    parsed = process(f"""{S}
        <implicitThrowEvent id="u" />
        <serviceTask id="t"><extensionElements><zeebe:taskDefinition retries="x" /></extensionElements></serviceTask>
        <sequenceFlow id="f" sourceRef="s" targetRef="t"><conditionExpression>=1 +</conditionExpression></sequenceFlow>
        <exclusiveGateway id="g" default="f" />""")
    assert [(problem.element_id, problem.line) for problem in parsed.problems] == [
        ("u", 3),
        ("t", 4),
        ("t", 4),
        ("f", 5),
        ("g", 6),
    ]


def test_a_problem_reads_as_a_sentence(process):
    (problem,) = process(f"{S}\n<implicitThrowEvent id='u' />").problems
    assert str(problem) == "'test.bpmn' line 3 element 'u': an implicit throw event is not executable yet"


def test_more_problems_than_anyone_reads_are_counted(process):
    problems = process(S + "".join(f"<implicitThrowEvent id='u{number}' />" for number in range(500))).problems
    assert len(problems) == 201
    assert problems[-1].message == "and 300 more problems"


def test_a_file_with_too_many_flow_nodes(process):
    (problem,) = process(S + "".join(f"<endEvent id='e{number}' />" for number in range(10_000))).problems
    assert problem.message == "the file has more than 10000 flow nodes and sequence flows"


@pytest.mark.long
def test_a_file_with_too_many_small_processes(definitions):
    processes = "".join(
        f"<process id='p{n}' isExecutable='true'><startEvent id='s{n}' /></process>" for n in range(5001)
    )
    (problem,) = definitions(processes).problems
    assert problem.message == "the file has more than 10000 flow nodes and sequence flows"


@pytest.mark.long
@pytest.mark.parametrize(("source", "count"), [("=a", 16_385), ("a", 16_385), ("=" + "1 + " * 1000 + "1", 66)])
def test_a_file_with_too_much_feel(process, source, count):
    """FEEL limits the cost of one expression; a file of many cheap ones costs as much."""
    (problem,) = process(mapping(f"<zeebe:input source='{source}' target='a' />" * count)).problems
    assert problem.message == "the file has more than 262144 characters of expressions"
