"""The attributes of BPMN elements in executable processes, and what becomes of each. BPMN 2.0.2, schema Semantic.xsd.

Attributes of other namespaces belong to other tools. One that is in none of these tables is no attribute of BPMN, and a
warning.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMON = frozenset({"id", "name"})
"""Attributes of nearly all elements: identity, and text for people."""

_ACTIVITY = frozenset({"isForCompensation", "startQuantity", "completionQuantity", "default"})

EXECUTED: Mapping[str, frozenset[str]] = {
    "process": frozenset({"isExecutable"}),
    **dict.fromkeys(("task", "manualTask", "serviceTask", "userTask", "businessRuleTask", "scriptTask"), _ACTIVITY),
    "sendTask": _ACTIVITY | {"messageRef"},
    "receiveTask": _ACTIVITY | {"messageRef", "instantiate"},
    "callActivity": _ACTIVITY,
    "subProcess": _ACTIVITY | {"triggeredByEvent"},
    "adHocSubProcess": _ACTIVITY | {"triggeredByEvent", "cancelRemainingInstances", "ordering"},
    "transaction": _ACTIVITY | {"triggeredByEvent", "method"},
    "exclusiveGateway": frozenset({"default"}),
    "inclusiveGateway": frozenset({"default"}),
    "complexGateway": frozenset({"default"}),
    "eventBasedGateway": frozenset({"instantiate", "eventGatewayType"}),
    "startEvent": frozenset({"isInterrupting", "parallelMultiple"}),
    "intermediateCatchEvent": frozenset({"parallelMultiple"}),
    "boundaryEvent": frozenset({"attachedToRef", "cancelActivity", "parallelMultiple"}),
    "sequenceFlow": frozenset({"sourceRef", "targetRef"}),
    "messageEventDefinition": frozenset({"messageRef"}),
    "signalEventDefinition": frozenset({"signalRef"}),
    "errorEventDefinition": frozenset({"errorRef"}),
    "escalationEventDefinition": frozenset({"escalationRef"}),
    "compensateEventDefinition": frozenset({"activityRef", "waitForCompletion"}),
    "linkEventDefinition": frozenset({"name"}),
    "multiInstanceLoopCharacteristics": frozenset(
        {"isSequential", "behavior", "oneBehaviorEventRef", "noneBehaviorEventRef"}
    ),
    "standardLoopCharacteristics": frozenset({"testBefore", "loopMaximum"}),
}
"""Attributes that are executed, or of which some values are refused."""

_GATEWAYS = ("exclusiveGateway", "inclusiveGateway", "parallelGateway", "complexGateway", "eventBasedGateway")

WITHOUT_MEANING: Mapping[str, frozenset[str]] = {
    "process": frozenset({"processType", "isClosed", "definitionalCollaborationRef"}),
    "sequenceFlow": frozenset({"isImmediate"}),
    **dict.fromkeys(_GATEWAYS, frozenset({"gatewayDirection"})),
}
"""Attributes without a meaning for the execution of one process: for people, or for models that are not executed."""

_BY_JOB = "zeebe:taskDefinition says who does the work"
_SERVICE = {"implementation": _BY_JOB, "operationRef": _BY_JOB}

WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("serviceTask", "sendTask"), _SERVICE),
    "receiveTask": dict.fromkeys(_SERVICE, "messageRef names what it waits for"),
    "userTask": {"implementation": "zeebe:userTask says who manages the task"},
    "businessRuleTask": {"implementation": _BY_JOB},
    "scriptTask": {"scriptFormat": "zeebe:script is FEEL"},
    "callActivity": {"calledElement": "zeebe:calledElement names the process; without it, a global task of the file"},
}
"""Attributes that something else takes the place of, with the reason. They are warnings."""
