"""The table of contents: every element of BPMN 2.0 and what becomes of it.

`ELEMENTS` are executed. `NOT_YET` and `PARTS_NOT_YET` would execute and are refused, each with its reason. The
`ACCEPTED` sets have no execution meaning here. An element in none of them is unknown and refused.
A new element is one entry in `ELEMENTS`, and one less below. `docs/bpmn-support.md` explains the same table to readers.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.bpmn.builders import job_task, plain, sub_process
from engine.bpmn.draft import Kind
from engine.bpmn.extensions import JOB, MAPPINGS

ELEMENTS: Mapping[str, Kind] = {
    "startEvent": Kind("START_EVENT", plain, MAPPINGS),
    "endEvent": Kind("END_EVENT", plain, MAPPINGS),
    "serviceTask": Kind("SERVICE_TASK", job_task, JOB | MAPPINGS, activity=True),
    "exclusiveGateway": Kind("EXCLUSIVE_GATEWAY", plain, chooses=True),
    "parallelGateway": Kind("PARALLEL_GATEWAY", plain),
    "subProcess": Kind("SUB_PROCESS", sub_process, MAPPINGS, activity=True, scope=True),
}

NOT_YET: Mapping[str, str] = {
    "task": "an undefined task is not executable yet",
    "manualTask": "a manual task is not executable yet",
    "userTask": "a user task is not executable yet",
    "scriptTask": "a script task is not executable yet",
    "businessRuleTask": "a business rule task is not executable yet",
    "sendTask": "a send task is not executable yet",
    "receiveTask": "a receive task is not executable yet",
    "callActivity": "a call activity is not executable yet",
    "transaction": "a transaction sub-process is not executable yet",
    "adHocSubProcess": "an ad-hoc sub-process is not executable yet",
    "inclusiveGateway": "an inclusive gateway is not executable yet",
    "eventBasedGateway": "an event-based gateway is not executable yet",
    "complexGateway": "a complex gateway is not executable yet",
    "intermediateCatchEvent": "an intermediate catch event is not executable yet",
    "intermediateThrowEvent": "an intermediate throw event is not executable yet",
    "boundaryEvent": "a boundary event is not executable yet",
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
    "messageEventDefinition": "a message event is not executable yet",
    "timerEventDefinition": "a timer event is not executable yet",
    "errorEventDefinition": "an error event is not executable yet",
    "escalationEventDefinition": "an escalation event is not executable yet",
    "signalEventDefinition": "a signal event is not executable yet",
    "terminateEventDefinition": "a terminate event is not executable yet",
    "linkEventDefinition": "a link event is not executable yet",
    "compensateEventDefinition": "a compensation event is not executable yet",
    "conditionalEventDefinition": "a conditional event is not executable yet",
    "cancelEventDefinition": "a cancel event is not executable yet",
    "eventDefinition": "an event definition of no kind cannot be executed",
    "eventDefinitionRef": "a reference to a shared event definition is not executable yet",
    "multiInstanceLoopCharacteristics": "multi-instance is not executable yet",
    "standardLoopCharacteristics": "the standard loop is not executable yet",
    "correlationSubscription": "correlation by a correlation subscription is not executable",
    "loopCharacteristics": "loop characteristics of no kind cannot be executed",
}
"""Children of flow nodes and processes that are refused."""

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
        # what elements refer to: unused as long as no element that refers to it is executed
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
