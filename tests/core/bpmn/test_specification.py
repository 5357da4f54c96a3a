"""Each element and attribute of BPMN has its row in docs/reference/bpmn.md, and the reader does what the row says."""

import pytest

from tests.core.bpmn.specification import (
    ATTRIBUTES,
    CONTENT,
    GENERAL,
    INSIDE,
    OTHERS,
    PAGE,
    PARTS,
    REFUSED,
    ROOTS,
    WARNED,
    becomes,
    of_attribute,
    page,
)
from vivero.core.bpmn.elements import attributes, contents, loops
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.reading.references import article

JOB = '<extensionElements><zeebe:taskDefinition type="t" /></extensionElements>'
CALLED = '<extensionElements><zeebe:calledElement processId="q" /></extensionElements>'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
KEY = '<extensionElements><zeebe:subscription correlationKey="=k" /></extensionElements>'
TARGETS = (
    f'<message id="m" name="m">{KEY}</message><signal id="g" name="g" />'
    '<error id="r" errorCode="R" /><escalation id="c" escalationCode="C" />'
    '<signalEventDefinition id="b" signalRef="g" />'
)
COLLECTION = '<extensionElements><zeebe:loopCharacteristics inputCollection="=i" /></extensionElements>'

BASES = {
    "serviceTask": ("", JOB),
    "sendTask": ("", JOB),
    "businessRuleTask": ("", JOB),
    "scriptTask": ("", JOB),
    "receiveTask": ('messageRef="m"', ""),
    "callActivity": ("", CALLED),
    "subProcess": ("", '<startEvent id="in" />'),
    "transaction": ("", '<startEvent id="in" />'),
    "adHocSubProcess": ("", '<task id="in" />'),
    "intermediateCatchEvent": ("", TIMER),
    "boundaryEvent": ('attachedToRef="h"', TIMER),
    "messageEventDefinition": ('messageRef="m"', ""),
    "signalEventDefinition": ('signalRef="g"', ""),
    "errorEventDefinition": ('errorRef="r"', ""),
    "escalationEventDefinition": ('escalationRef="c"', ""),
    "multiInstanceLoopCharacteristics": ("", COLLECTION),
    "standardLoopCharacteristics": ("", "<loopCondition>=a</loopCondition>"),
    "timerEventDefinition": ("", "<timeDuration>PT1H</timeDuration>"),
    "conditionalEventDefinition": ("", "<condition>=a</condition>"),
    "linkEventDefinition": ('name="l"', ""),
}
"""Element → the attributes and the content that it needs."""

BESIDE = {"noneBehaviorEventRef": 'behavior="None"', "oneBehaviorEventRef": 'behavior="One"'}
"""Attribute → another one without which it has no effect."""
VALUES = {
    "noneBehaviorEventRef": "b",
    "oneBehaviorEventRef": "b",
    "activityRef": "t",
    "default": "d",
    "triggeredByEvent": "false",
    "messageRef": "m",
    "signalRef": "g",
    "errorRef": "r",
    "escalationRef": "c",
    "attachedToRef": "h",
    "loopMaximum": "3",
    "behavior": "All",
    "ordering": "Parallel",
    "eventGatewayType": "Exclusive",
    "gatewayDirection": "Unspecified",
    "processType": "None",
    "startQuantity": "1",
    "completionQuantity": "1",
    "sourceRef": "s",
    "targetRef": "x",
    "method": "##Compensate",
    "cancelActivity": "true",
    "isInterrupting": "true",
    "cancelRemainingInstances": "true",
    "isExecutable": "true",
}
"""A value that is accepted; of others "false"."""
HOLDERS = {
    "compensateEventDefinition": "intermediateThrowEvent",
    "errorEventDefinition": "endEvent",
    "terminateEventDefinition": "endEvent",
    "escalationEventDefinition": "intermediateThrowEvent",
}


def element(tag, name="", value=""):
    given, inside = BASES.get(tag, ("", ""))
    given += BESIDE.get(name, "")
    if given.startswith(f"{name}="):
        given = ""
    attribute = f'{name}="{value}"' if name else ""
    return f'<{tag} id="x" {given} {attribute}>{inside}</{tag}>'


def model(tag, name="", value=""):
    """The content of a process with this element, which has the attribute."""
    made = element(tag, name, value)
    flows = '<sequenceFlow id="f" sourceRef="s" targetRef="x" /><sequenceFlow id="d" sourceRef="x" targetRef="e" />'
    start, behind = '<startEvent id="s" />', '<endEvent id="e" />'
    if tag == "startEvent":
        return made
    if tag == "sequenceFlow":
        ends = "".join(f' {end}="{id}"' for end, id in (("sourceRef", "s"), ("targetRef", "x")) if end != name)
        return f'{start}<task id="x" /><sequenceFlow id="f" {ends} {name}="{value}" />'
    if tag == "boundaryEvent":
        return f'{start}<task id="h" />{made}{behind}<sequenceFlow id="d" sourceRef="x" targetRef="e" />'
    if tag == "cancelEventDefinition":
        inside = f'<startEvent id="in" /><endEvent id="h">{made}</endEvent>'
        caught = f'<boundaryEvent id="c" attachedToRef="t"><{tag} /></boundaryEvent>'
        return f'{start}<transaction id="t">{inside}</transaction>{caught}'
    if tag.endswith("EventDefinition"):
        holder = HOLDERS.get(tag, "intermediateCatchEvent")
        return f'{start}<subProcess id="t"><startEvent id="in" /></subProcess><{holder} id="h">{made}</{holder}>'
    if tag.endswith("LoopCharacteristics"):
        return f'{start}<task id="x">{made}</task>'
    if tag == "eventBasedGateway":
        waits = "".join(
            f'<intermediateCatchEvent id="{id}">{TIMER}</intermediateCatchEvent>'
            f'<sequenceFlow id="to-{id}" sourceRef="x" targetRef="{id}" />'
            for id in "vw"
        )
        return f'{start}{made}{waits}<sequenceFlow id="f" sourceRef="s" targetRef="x" />'
    if tag == "endEvent":
        return start + made + flows.partition('<sequenceFlow id="d"')[0]
    return start + made + behind + flows


EXECUTED = {
    *contents.ELEMENTS,
    *EVENT_KINDS,
    "multiInstanceLoopCharacteristics",
    "standardLoopCharacteristics",
    "sequenceFlow",
}
PAIRS = [(tag, name) for tag, names in ATTRIBUTES.items() if tag in EXECUTED for name in names]


def about(problems, name):
    return [problem.message for problem in problems if name in problem.message]


@pytest.mark.parametrize(("tag", "name"), PAIRS)
def test_an_attribute_is_what_its_row_says(process, tag, name):
    parsed = process(model(tag, name, VALUES.get(name, "false")), TARGETS)
    row = of_attribute(tag, name)
    assert parsed.problems == (), tag
    warned = about(parsed.warnings, f"{name} has no effect")
    assert warned == ([f"{name} has no effect: {row.removeprefix('warned: ')}"] if row.startswith("warned") else [])


@pytest.mark.parametrize(("tag", "name"), [pair for pair in PAIRS if pair[1] in REFUSED])
def test_refused_values_are_refused(process, tag, name):
    value, reason = REFUSED[name]
    assert about(process(model(tag, name, value), TARGETS).problems, reason), (tag, name)


@pytest.mark.parametrize("tag", [tag for tag in ATTRIBUTES if tag in EXECUTED])
def test_an_attribute_that_bpmn_does_not_have_is_a_warning(process, tag):
    parsed = process(model(tag, "colour", "red"), TARGETS)
    assert about(parsed.warnings, "colour") == [f"colour has no effect: BPMN has no such attribute of {article(tag)}"]


@pytest.mark.parametrize("tag", contents.NOT_YET)
def test_refused_elements_are_refused(process, tag):
    parsed = process(f'<startEvent id="s" /><{tag} id="x" />')
    assert f"refused: {parsed.problems[0].message}" == becomes(tag)


@pytest.mark.parametrize("tag", contents.PARTS_NOT_YET)
def test_refused_parts_are_refused(process, tag):
    parsed = process(f'<startEvent id="s" /><task id="x"><{tag} /></task>')
    assert f"refused: {parsed.problems[0].message}" == becomes(tag)


LINK = (
    '<startEvent id="s" /><intermediateCatchEvent id="x"><linkEventDefinition name="l">{}'
    "</linkEventDefinition></intermediateCatchEvent>"
)
MESSAGE = '<startEvent id="s"><messageEventDefinition messageRef="m">{}</messageEventDefinition></startEvent>'
HOLDING = {"operationRef": MESSAGE, "source": LINK, "target": LINK}
"""Element → the content of a process that has it in its place."""


@pytest.mark.parametrize("tag", GENERAL)
def test_general_elements_have_no_place(process, tag):
    parsed = process(f'<startEvent id="s" /><{tag} id="x" />')
    assert about(parsed.problems, tag) == [f"the element '{tag}' has no place here"]
    parsed = process('<startEvent id="s" />', f'<{tag} id="x" />')
    assert about(parsed.problems, tag) == [f"the element '{tag}' has no place at the top of a file"]


@pytest.mark.parametrize("tag", sorted(WARNED))
def test_warned_elements_are_warned_of(process, tag):
    loop = f"<multiInstanceLoopCharacteristics>{COLLECTION}<{tag} /></multiInstanceLoopCharacteristics>"
    inside = loop if tag in loops.DATA else f"<{tag} />"
    content = f'<startEvent id="s" /><task id="x">{inside}</task>'
    parsed = process(HOLDING[tag].format(f"<{tag} />") if tag in HOLDING else content, TARGETS)
    assert about(parsed.warnings, f"{tag} has no effect"), tag


@pytest.mark.parametrize("tag", sorted(contents.ACCEPTED_IN_SCOPES - contents.DATA - contents.PEOPLE_ROLES))
def test_what_has_no_meaning_is_neither(process, tag):
    parsed = process(f'<startEvent id="s" /><{tag} id="x" />')
    assert (about(parsed.problems, tag), about(parsed.warnings, tag)) == ([], [])
    assert becomes(tag) in ("no meaning", "executed")


def test_the_tables_of_attributes_are_those_of_the_schema():
    """The parser reads nothing that BPMN does not have."""
    for known in (attributes.EXECUTED, attributes.WITHOUT_MEANING, attributes.WITHOUT_EFFECT):
        for tag, names in known.items():
            assert set(names) <= {*ATTRIBUTES[tag], "name"}, tag


def test_each_element_stands_once():
    elements = [*ATTRIBUTES, *CONTENT, *ROOTS, *OTHERS, *GENERAL, *contents.REPLACED, *PARTS]
    assert len(elements) == len(set(elements))
    assert set(INSIDE) <= set(elements)


def test_the_page_says_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "make tables"
