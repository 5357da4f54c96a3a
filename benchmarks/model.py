"""The process that is measured: one service task, three variables."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from vivero.core.records.catalogue import Deploy, ProcessMetadata, ResourceReference
from vivero.core.records.instances import CreateInstance

ONE_TASK = b"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="measured" name="Measured" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="to-work" sourceRef="start" targetRef="work"/>
    <serviceTask id="work" name="Work">
      <extensionElements><zeebe:taskDefinition type="measured-work"/></extensionElements>
    </serviceTask>
    <sequenceFlow id="to-end" sourceRef="work" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>
"""

EMPTY = b"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
  <process id="measured-empty" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="to-end" sourceRef="start" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>
"""

VARIABLES = {"orderId": "o-1234567", "amount": 129.95, "express": True}

CREATE = CreateInstance(
    "measured", variables={name: msgspec.Raw(msgspec.json.encode(value)) for name, value in VARIABLES.items()}
)
DEPLOY = Deploy(
    (ResourceReference("one_task.bpmn", sha256(ONE_TASK).hexdigest(), (ProcessMetadata("measured", "Measured"),)),)
)
JOB_TYPE = "measured-work"
