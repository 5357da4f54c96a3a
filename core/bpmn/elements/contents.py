"""The table of contents: every element of BPMN 2.0 and what becomes of it.

The engine executes the elements in `ELEMENTS` and the definitions in `core.bpmn.events.EVENT_KINDS`. Elements in
`NOT_YET` and `PARTS_NOT_YET` are problems, each with its reason. An element in none of these tables is a problem, too.
The elements in the `ACCEPTED` sets have no meaning for execution. A new element is one more entry in `ELEMENTS`, and
one fewer below.
`docs/bpmn-support.md` explains the same table to readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vivero.core.bpmn.elements import builders
from vivero.core.bpmn.elements.form_references import START_FORM
from vivero.core.bpmn.elements.linked_resources import LINKS
from vivero.core.bpmn.elements.loops import CHILDREN as LOOPS
from vivero.core.bpmn.elements.user_tasks import EXTENSIONS as USER_TASK
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.reading.draft import Build, ElementKind, Place
from vivero.core.bpmn.reading.extensions import AD_HOC, CALL, JOB, LISTENERS, MAPPINGS, PEOPLE, PUBLISH
from vivero.core.bpmn.reading.shared_definitions import REFERENCE

_LOOP = frozenset(LOOPS)
_EVENTS = frozenset(EVENT_KINDS) | {REFERENCE}


def _event(type_: str, place: Place) -> ElementKind:
    return ElementKind(type_, builders.event, MAPPINGS | LISTENERS, children=_EVENTS, place=place)


def _activity(
    type_: str, build: Build, extensions: frozenset[str] = frozenset(), *, scope: bool = False
) -> ElementKind:
    return ElementKind(type_, build, extensions | MAPPINGS | LISTENERS, children=_LOOP, activity=True, scope=scope)


def _one_of_several(type_: str, build: Build, extensions: frozenset[str] = frozenset()) -> ElementKind:
    """An activity that is executed by its extension elements. A modeler that changed the kind of an activity may leave
    extension elements of the former kind. They are warnings, because this kind cannot be without its own."""
    kind = _activity(type_, build, extensions)
    return replace(kind, remnants=(JOB | CALL | PEOPLE | START_FORM) - kind.extensions)


ELEMENTS: Mapping[str, ElementKind] = {
    "startEvent": _event("START_EVENT", Place.PROCESS_START),
    "endEvent": _event("END_EVENT", Place.END),
    "intermediateThrowEvent": _event("INTERMEDIATE_THROW_EVENT", Place.THROW),
    "intermediateCatchEvent": _event("INTERMEDIATE_CATCH_EVENT", Place.CATCH),
    "boundaryEvent": _event("BOUNDARY_EVENT", Place.BOUNDARY),
    "task": _activity("TASK", builders.plain),
    "manualTask": _activity("MANUAL_TASK", builders.plain),
    "serviceTask": _one_of_several("SERVICE_TASK", builders.service_task, JOB | LINKS),
    "sendTask": _one_of_several("SEND_TASK", builders.send_task, JOB | PUBLISH),
    "receiveTask": _one_of_several("RECEIVE_TASK", builders.receive_task),
    "scriptTask": _one_of_several("SCRIPT_TASK", builders.script_task, JOB | {"script"}),
    "businessRuleTask": _one_of_several("BUSINESS_RULE_TASK", builders.business_rule_task, JOB | {"calledDecision"}),
    "userTask": _one_of_several("USER_TASK", builders.user_task_node, USER_TASK),
    "callActivity": _one_of_several("CALL_ACTIVITY", builders.call_activity, CALL),
    "subProcess": _activity("SUB_PROCESS", builders.sub_process, scope=True),
    "transaction": _activity("TRANSACTION", builders.transaction, scope=True),
    "adHocSubProcess": replace(
        _activity("AD_HOC_SUB_PROCESS", builders.ad_hoc_sub_process, JOB | AD_HOC, scope=True),
        children=_LOOP | {"completionCondition"},
    ),
    "exclusiveGateway": ElementKind("EXCLUSIVE_GATEWAY", builders.plain, LISTENERS, chooses=True),
    "inclusiveGateway": ElementKind("INCLUSIVE_GATEWAY", builders.inclusive_gateway, LISTENERS, chooses=True),
    "complexGateway": ElementKind(
        "COMPLEX_GATEWAY",
        builders.complex_gateway,
        LISTENERS,
        children=frozenset({"activationCondition"}),
        chooses=True,
    ),
    "parallelGateway": ElementKind("PARALLEL_GATEWAY", builders.plain, LISTENERS),
    "eventBasedGateway": ElementKind("EVENT_BASED_GATEWAY", builders.event_based_gateway, LISTENERS),
}

EVENT_SUB_PROCESS = ElementKind("EVENT_SUB_PROCESS", builders.sub_process, MAPPINGS | LISTENERS, scope=True)
"""A `subProcess` with `triggeredByEvent`. It is no activity: it has no boundary events and no loop."""

NOT_YET: Mapping[str, str] = {
    "event": "an event without a position in the flow cannot be executed",
    "implicitThrowEvent": "an implicit throw event is not executable yet",
    "choreographyTask": "a choreography cannot be executed",
    "callChoreography": "a choreography cannot be executed",
    "subChoreography": "a choreography cannot be executed",
}
"""Flow nodes that are not executable, with the reason."""

PARTS_NOT_YET: Mapping[str, str] = {
    "eventDefinition": "an event definition of no kind cannot be executed",
    "correlationSubscription": "correlation by a correlation subscription is not executable",
    "loopCharacteristics": "loop characteristics of no kind cannot be executed",
    "script": "a script of this kind is not executable; zeebe:script holds a FEEL expression",
}
"""Children of flow nodes, of their parts and of processes that are not executable, with the reason."""

PARTS: Mapping[str, frozenset[str]] = {
    **{tag: kind.children for tag, kind in EVENT_KINDS.items()},
    **LOOPS,
    "complexBehaviorDefinition": frozenset({"condition", "event"}),
}
"""Children of flow nodes that have children themselves, and which of those are executed or allowed."""

REPLACED: Mapping[str, str] = {
    "operationRef": "messageRef names the message",
    **dict.fromkeys(("source", "target"), "the name joins link events"),
}
"""Children of event definitions that something else takes the place of, with the reason. They are warnings."""

ACCEPTED_EVERYWHERE = frozenset(
    {
        "documentation",
        "extensionElements",  # read by core.bpmn.reading.extensions
        "auditing",
        "monitoring",
        "categoryValueRef",
    }
)
"""Children of flow nodes and scopes that have no meaning for execution."""

DATA = frozenset(
    {
        "ioSpecification",
        "ioBinding",
        "property",
        "dataInput",
        "dataOutput",
        "inputSet",
        "outputSet",
        "dataInputAssociation",
        "dataOutputAssociation",
    }
)
"""Children of flow nodes and scopes that move data. BPMN 2.0.2 §10.4. They are warnings, because variables and mappings
take their place here."""

PEOPLE_ROLES = frozenset({"resourceRole", "performer", "humanPerformer", "potentialOwner"})
"""Children of activities and processes that name people. BPMN 2.0.2 §10.3.1. They are warnings, because extensions take
their place here."""

ACCEPTED_IN_NODES = ACCEPTED_EVERYWHERE | DATA | PEOPLE_ROLES | {"incoming", "outgoing"}
"""`incoming` and `outgoing` repeat the sequence flows and are often missing or stale, so only the flows count."""

ACCEPTED_IN_SCOPES = ACCEPTED_IN_NODES | {
    "laneSet",
    "artifact",
    "association",
    "group",
    "textAnnotation",
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "supports",
    "supportedInterfaceRef",
}
"""Children of processes and sub-processes that have no meaning for execution."""

ACCEPTED_IN_FILES = frozenset(
    {
        "process",
        "documentation",
        "extensionElements",
        "import",
        "extension",
        "relationship",
        # targets of references; without a reference they mean nothing
        "message",
        "signal",
        "error",
        "escalation",
        "itemDefinition",
        "dataStore",
        "resource",
        "interface",
        "endPoint",
        "category",
        "correlationProperty",
        "partnerEntity",
        "partnerRole",
        "messageEventDefinition",
        "timerEventDefinition",
        "errorEventDefinition",
        "escalationEventDefinition",
        "signalEventDefinition",
        "terminateEventDefinition",
        "linkEventDefinition",
        "compensateEventDefinition",
        "conditionalEventDefinition",
        "cancelEventDefinition",
        "globalTask",
        "globalUserTask",
        "globalManualTask",
        "globalScriptTask",
        "globalBusinessRuleTask",
        # collaboration between processes
        "collaboration",
        "choreography",
        "globalChoreographyTask",
        "conversation",
        "globalConversation",
    }
)
"""Children of `definitions` that are not executed. Those of other namespaces (diagrams) are accepted, too."""
