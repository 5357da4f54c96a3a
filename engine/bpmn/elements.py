"""The table of contents: every element of BPMN 2.0 and what becomes of it.

`ELEMENTS` and `engine.bpmn.events.EVENTS` are read, and executed but for the kinds in `engine.bpmn.not_yet`. `NOT_YET`
and `PARTS_NOT_YET` would execute and are refused, each with its reason. The `ACCEPTED` sets have no execution meaning
here. An element in none of them is unknown and refused. A new element is one entry in `ELEMENTS`, and one less below.
`docs/bpmn-support.md` explains the same table to readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vivero.engine.bpmn import builders
from vivero.engine.bpmn.activities import LOOP_CHILDREN
from vivero.engine.bpmn.draft import Build, Kind, Place
from vivero.engine.bpmn.events import EVENTS
from vivero.engine.bpmn.extensions import CALL, JOB, LISTENERS, MAPPINGS, PEOPLE, PUBLISH
from vivero.engine.bpmn.user_tasks import EXTENSIONS as USER_TASK

_LOOP = frozenset({"multiInstanceLoopCharacteristics"})
_EVENTS = frozenset(EVENTS)


def _event(type_: str, place: Place) -> Kind:
    return Kind(type_, builders.event, MAPPINGS | LISTENERS, children=_EVENTS, place=place)


def _activity(type_: str, build: Build, extensions: frozenset[str] = frozenset(), *, scope: bool = False) -> Kind:
    return Kind(type_, build, extensions | MAPPINGS | LISTENERS, children=_LOOP, activity=True, scope=scope)


def _one_of_several(type_: str, build: Build, extensions: frozenset[str] = frozenset()) -> Kind:
    """An activity whose extension elements say how it is executed. Where it was drawn as another one and turned into
    this, modelers may leave those of the other one there; its own ones, which it cannot be without, are what counts."""
    kind = _activity(type_, build, extensions)
    return replace(kind, remnants=(JOB | CALL | PEOPLE) - kind.extensions)


ELEMENTS: Mapping[str, Kind] = {
    "startEvent": _event("START_EVENT", Place.PROCESS_START),
    "endEvent": _event("END_EVENT", Place.END),
    "intermediateThrowEvent": _event("INTERMEDIATE_THROW_EVENT", Place.THROW),
    "intermediateCatchEvent": _event("INTERMEDIATE_CATCH_EVENT", Place.CATCH),
    "boundaryEvent": _event("BOUNDARY_EVENT", Place.BOUNDARY),
    "task": _activity("TASK", builders.plain),
    "manualTask": _activity("MANUAL_TASK", builders.plain),
    "serviceTask": _one_of_several("SERVICE_TASK", builders.job_task, JOB),
    "sendTask": _one_of_several("SEND_TASK", builders.send_task, JOB | PUBLISH),
    "receiveTask": _one_of_several("RECEIVE_TASK", builders.receive_task),
    "scriptTask": _one_of_several("SCRIPT_TASK", builders.script_task, JOB | {"script"}),
    "businessRuleTask": _one_of_several("BUSINESS_RULE_TASK", builders.business_rule_task, JOB | {"calledDecision"}),
    "userTask": _one_of_several("USER_TASK", builders.user_task_node, USER_TASK),
    "callActivity": _one_of_several("CALL_ACTIVITY", builders.call_activity, CALL),
    "subProcess": _activity("SUB_PROCESS", builders.sub_process, scope=True),
    "exclusiveGateway": Kind("EXCLUSIVE_GATEWAY", builders.plain, LISTENERS, chooses=True),
    "inclusiveGateway": Kind("INCLUSIVE_GATEWAY", builders.inclusive_gateway, LISTENERS, chooses=True),
    "parallelGateway": Kind("PARALLEL_GATEWAY", builders.plain, LISTENERS),
    "eventBasedGateway": Kind("EVENT_BASED_GATEWAY", builders.event_based_gateway, LISTENERS),
}

EVENT_SUB_PROCESS = Kind("EVENT_SUB_PROCESS", builders.sub_process, MAPPINGS | LISTENERS, scope=True)
"""A `subProcess` with `triggeredByEvent`. It is no activity: nothing is attached to it, and it does not repeat."""

NOT_YET: Mapping[str, str] = {
    "transaction": "a transaction sub-process is not executable yet",
    "adHocSubProcess": "an ad-hoc sub-process is not executable yet",
    "complexGateway": "a complex gateway is not executable yet",
    "event": "an event without a position in the flow cannot be executed",
    "implicitThrowEvent": "an implicit throw event is not executable yet",
    "choreographyTask": "a choreography cannot be executed",
    "callChoreography": "a choreography cannot be executed",
    "subChoreography": "a choreography cannot be executed",
}
"""Flow nodes that are refused."""

SCOPES_NOT_YET = frozenset({"transaction", "adHocSubProcess"})
"""Refused flow nodes that contain others: what is wrong inside is reported as well."""

PARTS_NOT_YET: Mapping[str, str] = {
    "compensateEventDefinition": "a compensation event is not executable yet",
    "cancelEventDefinition": "a cancel event is not executable yet",
    "eventDefinition": "an event definition of no kind cannot be executed",
    "eventDefinitionRef": "a reference to a shared event definition is not executable yet",
    "standardLoopCharacteristics": "the standard loop is not executable yet",
    "correlationSubscription": "correlation by a correlation subscription is not executable",
    "loopCharacteristics": "loop characteristics of no kind cannot be executed",
    "loopCardinality": "a loop cardinality is not executable; zeebe:loopCharacteristics has an inputCollection",
    "complexBehaviorDefinition": "events of the inner instances of a multi-instance activity are not executable",
    "script": "a script of this kind is not executable; zeebe:script holds a FEEL expression",
}
"""Children of flow nodes, of their parts and of processes that are refused."""

PARTS: Mapping[str, frozenset[str]] = {
    **{tag: kind.children for tag, kind in EVENTS.items()},
    "multiInstanceLoopCharacteristics": LOOP_CHILDREN,
}
"""Children of flow nodes that have children of their own, and which of those are executed or allowed."""

ACCEPTED_EVERYWHERE = frozenset(
    {
        "documentation",
        "extensionElements",  # looked into by engine.bpmn.extensions
        "auditing",
        "monitoring",
        "categoryValueRef",
        # data: BPMN 2.0.2 §10.4; variables and mappings take its place here
        "ioSpecification",
        "ioBinding",
        "property",
        "dataInput",
        "dataOutput",
        "inputSet",
        "outputSet",
        "dataInputAssociation",
        "dataOutputAssociation",
        # who does something: BPMN 2.0.2 §10.3.1; no task here asks it
        "resourceRole",
        "performer",
        "humanPerformer",
        "potentialOwner",
    }
)
"""Children without execution meaning, of flow nodes and of scopes."""

ACCEPTED_IN_NODES = ACCEPTED_EVERYWHERE | {"incoming", "outgoing"}
"""`incoming` and `outgoing` repeat what the sequence flows say, and are often missing or stale: the flows count."""

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
"""Children without execution meaning, of processes and sub-processes."""

ACCEPTED_IN_FILES = frozenset(
    {
        "process",
        "documentation",
        "extensionElements",
        "import",
        "extension",
        "relationship",
        # what elements refer to; what nobody refers to means nothing
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
        # how processes talk to each other, drawn
        "collaboration",
        "choreography",
        "globalChoreographyTask",
        "conversation",
        "globalConversation",
    }
)
"""Children of `definitions` that do nothing by themselves. Those of other namespaces (diagrams) are accepted, too."""
