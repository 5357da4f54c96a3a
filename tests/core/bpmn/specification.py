"""Every element and attribute of BPMN 2.0.2 (schema Semantic.xsd, formal/2013-12-09), and what becomes of each here.

    python -m tests.core.bpmn.specification

writes docs/reference/bpmn.md; `make tables` does so, too. What becomes of an element follows from the
tables of the parser; the lists of the schema are written by hand, and `test_schema.py` compares them with it. `id` and
`name` are left out.
"""

from pathlib import Path

from vivero.core.bpmn.elements import attributes, contents, loops
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.reading import global_tasks
from vivero.core.bpmn.reading.shared_definitions import REFERENCE

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "bpmn.md"
HEAD = """# Every element and attribute of BPMN

`make tables` writes this page from the code. All that BPMN 2.0.2 defines, in an executable process, but for `id` and
`name`. Elements and attributes are executed, by the rules of [BPMN support](../bpmn-support.md), unless the list says
otherwise; *refused* is a problem of the deployment, *warned* a warning. *The four* attributes of activities are
`isForCompensation`, `startQuantity`, `completionQuantity` and `default`.

"""

_ACTIVITY = ("isForCompensation", "startQuantity", "completionQuantity", "default")
_SUB_PROCESS = (*_ACTIVITY, "triggeredByEvent")
ATTRIBUTES = {
    "process": ("processType", "isClosed", "isExecutable", "definitionalCollaborationRef"),
    "task": _ACTIVITY,
    "manualTask": _ACTIVITY,
    "serviceTask": (*_ACTIVITY, "implementation", "operationRef"),
    "sendTask": (*_ACTIVITY, "implementation", "messageRef", "operationRef"),
    "receiveTask": (*_ACTIVITY, "implementation", "instantiate", "messageRef", "operationRef"),
    "userTask": (*_ACTIVITY, "implementation"),
    "scriptTask": (*_ACTIVITY, "scriptFormat"),
    "businessRuleTask": (*_ACTIVITY, "implementation"),
    "callActivity": (*_ACTIVITY, "calledElement"),
    "subProcess": _SUB_PROCESS,
    "adHocSubProcess": (*_SUB_PROCESS, "cancelRemainingInstances", "ordering"),
    "transaction": (*_SUB_PROCESS, "method"),
    "startEvent": ("parallelMultiple", "isInterrupting"),
    "endEvent": (),
    "intermediateThrowEvent": (),
    "implicitThrowEvent": (),
    "event": (),
    "intermediateCatchEvent": ("parallelMultiple",),
    "boundaryEvent": ("parallelMultiple", "cancelActivity", "attachedToRef"),
    "exclusiveGateway": ("gatewayDirection", "default"),
    "inclusiveGateway": ("gatewayDirection", "default"),
    "parallelGateway": ("gatewayDirection",),
    "complexGateway": ("gatewayDirection", "default"),
    "eventBasedGateway": ("gatewayDirection", "instantiate", "eventGatewayType"),
    "sequenceFlow": ("sourceRef", "targetRef", "isImmediate"),
    "messageEventDefinition": ("messageRef",),
    "timerEventDefinition": (),
    "errorEventDefinition": ("errorRef",),
    "escalationEventDefinition": ("escalationRef",),
    "signalEventDefinition": ("signalRef",),
    "terminateEventDefinition": (),
    "linkEventDefinition": (),
    "conditionalEventDefinition": (),
    "compensateEventDefinition": ("waitForCompletion", "activityRef"),
    "cancelEventDefinition": (),
    "eventDefinition": (),
    "eventDefinitionRef": (),
    "multiInstanceLoopCharacteristics": ("isSequential", "behavior", "oneBehaviorEventRef", "noneBehaviorEventRef"),
    "standardLoopCharacteristics": ("testBefore", "loopMaximum"),
    "loopCharacteristics": (),
}
"""The elements that have a meaning for the execution of a process, with their own and inherited attributes."""

CONTENT = [
    "conditionExpression",
    "timeDate",
    "timeDuration",
    "timeCycle",
    "condition",
    "loopCondition",
    "loopCardinality",
    "activationCondition",
    "complexBehaviorDefinition",
    "completionCondition",
]
"""Elements that hold an expression."""

ROOTS = ("definitions", "message", "signal", "error", "escalation")
"""Roots that events refer to. Their `itemRef` and `structureRef` are types of data, which have no meaning here."""

OTHERS = [
    "artifact",
    "assignment",
    "association",
    "auditing",
    "callChoreography",
    "callConversation",
    "category",
    "categoryValue",
    "categoryValueRef",
    "choreography",
    "choreographyTask",
    "collaboration",
    "conversation",
    "conversationAssociation",
    "conversationLink",
    "conversationNode",
    "correlationKey",
    "correlationProperty",
    "correlationPropertyBinding",
    "correlationPropertyRetrievalExpression",
    "correlationSubscription",
    "dataInput",
    "dataInputAssociation",
    "dataObject",
    "dataObjectReference",
    "dataOutput",
    "dataOutputAssociation",
    "dataState",
    "dataStore",
    "dataStoreReference",
    "documentation",
    "endPoint",
    "expression",
    "extension",
    "extensionElements",
    "formalExpression",
    "globalBusinessRuleTask",
    "globalChoreographyTask",
    "globalConversation",
    "globalManualTask",
    "globalScriptTask",
    "globalTask",
    "globalUserTask",
    "group",
    "humanPerformer",
    "import",
    "incoming",
    "inputDataItem",
    "inputSet",
    "interface",
    "ioBinding",
    "ioSpecification",
    "itemDefinition",
    "lane",
    "laneSet",
    "loopDataInputRef",
    "loopDataOutputRef",
    "messageFlow",
    "messageFlowAssociation",
    "monitoring",
    "operation",
    "outgoing",
    "outputDataItem",
    "outputSet",
    "participant",
    "participantAssociation",
    "participantMultiplicity",
    "partnerEntity",
    "partnerRole",
    "performer",
    "potentialOwner",
    "property",
    "relationship",
    "rendering",
    "resource",
    "resourceAssignmentExpression",
    "resourceParameter",
    "resourceParameterBinding",
    "resourceRole",
    "script",
    "subChoreography",
    "subConversation",
    "supportedInterfaceRef",
    "supports",
    "text",
    "textAnnotation",
]
"""All other elements of the schema, but for those that only stand inside of them."""

GENERAL = (
    "activity",
    "baseElement",
    "baseElementWithMixedContent",
    "callableElement",
    "catchEvent",
    "choreographyActivity",
    "dataAssociation",
    "flowElement",
    "flowNode",
    "gateway",
    "rootElement",
    "throwEvent",
)
"""Elements of the schema that stand for the more special ones."""

INSIDE = {
    "collaboration": [
        "callConversation",
        "choreographyRef",
        "conversationAssociation",
        "conversationLink",
        "conversationNode",
        "correlationKey",
        "correlationPropertyRef",
        "endPointRef",
        "innerParticipantRef",
        "interfaceRef",
        "messageFlow",
        "messageFlowAssociation",
        "messageFlowRef",
        "outerParticipantRef",
        "participant",
        "participantAssociation",
        "participantMultiplicity",
        "participantRef",
        "subConversation",
    ],
    "correlationProperty": ["correlationPropertyRetrievalExpression", "messagePath"],
    "correlationSubscription": ["correlationPropertyBinding", "dataPath"],
    "category": ["categoryValue"],
    "laneSet": ["childLaneSet", "flowNodeRef", "lane", "partitionElement"],
    "interface": ["errorRef", "inMessageRef", "operation", "outMessageRef"],
    "dataObject": ["dataState"],
    "dataInputAssociation": ["assignment", "from", "sourceRef", "targetRef", "to", "transformation"],
    "inputSet": ["dataInputRefs", "optionalInputRefs", "outputSetRefs", "whileExecutingInputRefs"],
    "outputSet": ["dataOutputRefs", "inputSetRefs", "optionalOutputRefs", "whileExecutingOutputRefs"],
    "resource": ["resourceParameter"],
    "resourceRole": ["resourceAssignmentExpression", "resourceParameterBinding", "resourceRef"],
    "userTask": ["rendering"],
    "textAnnotation": ["text"],
    "conditionExpression": ["expression", "formalExpression"],
}
"""Elements that stand only inside of another one, and share its lot."""

REFUSED = {
    "startQuantity": ("0", "is not a whole number from 1 to 1000"),
    "completionQuantity": ("0", "is not a whole number from 1 to 1000"),
    "default": ("nothing", "does not leave this element"),
    "eventGatewayType": ("Some", "is neither Exclusive nor Parallel"),
    "behavior": ("Some", "is none of All, None, One, Complex"),
    "loopMaximum": ("0", "is not a whole number from 1 to"),
}
"""Attributes of which some values are refused: one of them, and the reason."""

WARNED = {*contents.DATA, *contents.PEOPLE_ROLES, *contents.REPLACED, *loops.DATA}

PARTS = {part for parts in INSIDE.values() for part in parts} - {*OTHERS}
"""Elements that stand in no list but `INSIDE`."""


def becomes(tag):
    """The treatment of an element."""
    outer = next((outer for outer, inner in INSIDE.items() if tag in inner), None)
    reason = contents.NOT_YET.get(tag) or contents.PARTS_NOT_YET.get(tag)
    executed = {
        *contents.ELEMENTS,
        *EVENT_KINDS,
        *loops.CHILDREN,
        *CONTENT,
        *ROOTS,
        REFERENCE,
        "process",
        "sequenceFlow",
    }
    if tag in GENERAL:
        return "refused: it has no place in a file"
    if reason is not None:
        return f"refused: {reason}"
    if tag in global_tasks.TASKS:
        return "executed if an executable process of the file calls it"
    if tag in WARNED:
        return "warned"
    if tag in executed:
        return "executed"
    if outer is not None:
        return f"as `{outer}`"
    accepted = contents.ACCEPTED_IN_SCOPES | contents.ACCEPTED_IN_FILES
    assert tag in accepted, f"{tag} has no row"
    return "no meaning"


def of_attribute(tag, name):
    """The treatment of an attribute of an element."""
    reason = attributes.WITHOUT_EFFECT.get(tag, {}).get(name)
    if reason is not None:
        return f"warned: {reason}"
    if name in attributes.WITHOUT_MEANING.get(tag, ()):
        return "no meaning"
    assert name in attributes.EXECUTED.get(tag, ()), f"{name} of {tag} has no row"
    if becomes(tag).startswith("refused"):
        return "refused"
    return "executed"


def _attributes_of(tag):
    """The attributes of an element by what becomes of them."""
    groups = {}
    for name in ATTRIBUTES[tag]:
        what = of_attribute(tag, name)
        shared = "the four" if what == "executed" and name in _ACTIVITY and set(_ACTIVITY) <= {*ATTRIBUTES[tag]} else ""
        groups.setdefault(what, []).append(shared or f"`{name}`")
    groups = {what: list(dict.fromkeys(names)) for what, names in groups.items()}
    executed = groups.pop("executed", [])
    others = [f"{', '.join(names)} {what}" for what, names in groups.items()]
    return "; ".join(([", ".join(executed)] if executed else []) + others)


def table():
    """One item for all elements that have the same treatment and the same attributes."""
    rows = {}
    for tag, names in ATTRIBUTES.items():
        if names:
            rows.setdefault((becomes(tag), _attributes_of(tag)), []).append(tag)
    lines = [f"- {_code(tags)}: {what}; {attributes}" for (what, attributes), tags in rows.items()]
    groups = {}
    without = [tag for tag, names in ATTRIBUTES.items() if not names]
    for tag in (*without, *CONTENT, *ROOTS, *OTHERS, *GENERAL, *contents.REPLACED, *PARTS):
        groups.setdefault(becomes(tag), []).append(tag)
    lines += [f"- {_code(sorted(tags))}: {what}" for what, tags in sorted(groups.items())]
    return "\n".join(lines).replace(": executed; ", ": ")


def _code(tags):
    return ", ".join(f"`{tag}`" for tag in tags)


def page():
    return f"{HEAD}{table()}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
