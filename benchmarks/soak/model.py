"""The instances of a soak by their numbers: a model with a branch for each kind, and the elements of each kind."""

from __future__ import annotations

from collections import Counter

PROCESS, JOB_TYPE, MESSAGE = "soak", "soak-work", "soak-told"
SHARES = {"work": 60, "timer": 70, "message": 80, "user": 88, "broken": 90, "loop": 100}
"""Kind → the upper bound of its numbers, modulo 100. `broken`: its job fails, which makes an incident."""
ITEMS = 3

_WORK = f'<extensionElements><zeebe:taskDefinition type="{JOB_TYPE}" retries="1"/></extensionElements>'


def _branch(kind: str, element: str) -> str:
    """An element that the gateway leads to if the variable `kind` says so."""
    return f"""
    <sequenceFlow id="to-{kind}" sourceRef="which" targetRef="{kind}">
      <conditionExpression>=kind = "{kind}"</conditionExpression>
    </sequenceFlow>
    {element}"""


def _before_work(kind: str, element: str) -> str:
    return _branch(kind, element) + f'<sequenceFlow id="{kind}-to-work" sourceRef="{kind}" targetRef="work"/>'


MODEL = f"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
             targetNamespace="https://example.org/soak">
  <message id="told" name="{MESSAGE}">
    <extensionElements><zeebe:subscription correlationKey="=string(number)"/></extensionElements>
  </message>
  <process id="{PROCESS}" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="to-which" sourceRef="start" targetRef="which"/>
    <exclusiveGateway id="which" default="to-work"/>
    <sequenceFlow id="to-work" sourceRef="which" targetRef="work"/>
    <serviceTask id="work">{_WORK}</serviceTask>
    <sequenceFlow id="work-to-end" sourceRef="work" targetRef="end"/>
    <endEvent id="end"/>
{
    _before_work(
        "timer",
        '<intermediateCatchEvent id="timer"><timerEventDefinition><timeDuration>PT5S</timeDuration>'
        "</timerEventDefinition></intermediateCatchEvent>",
    )
}{
    _before_work(
        "message",
        '<intermediateCatchEvent id="message"><messageEventDefinition messageRef="told"/></intermediateCatchEvent>',
    )
}{_before_work("user", '<userTask id="user"><extensionElements><zeebe:userTask/></extensionElements></userTask>')}{
    _branch(
        "loop",
        f'<serviceTask id="loop">{_WORK}<multiInstanceLoopCharacteristics><extensionElements>'
        '<zeebe:loopCharacteristics inputCollection="=items"/></extensionElements></multiInstanceLoopCharacteristics>'
        "</serviceTask>",
    )
}<sequenceFlow id="loop-to-end" sourceRef="loop" targetRef="end"/>
  </process>
</definitions>
""".encode()


def kind_of(number: int) -> str:
    """The kind of the instance with this number."""
    return next(kind for kind, bound in SHARES.items() if number % 100 < bound)


def variables_of(number: int) -> dict[str, object]:
    """The variables that the instance starts with."""
    kind = kind_of(number)
    variables: dict[str, object] = {"number": number, "kind": kind, "broken": kind == "broken"}
    return variables | ({"items": list(range(ITEMS))} if kind == "loop" else {})


def elements_of(kind: str) -> Counter[str]:
    """The number of instances of each element in a completed instance of that kind. A loop has a body and its items."""
    path = Counter(("start", "which", "end"))
    if kind == "loop":
        return path + Counter({"loop": 1 + ITEMS})
    return path + Counter({"work": 1}) + (Counter() if kind in ("work", "broken") else Counter({kind: 1}))


def counted_of(kind: str) -> Counter[str]:
    """The same as statistics count it: without the body of the loop."""
    return elements_of(kind) - (Counter({"loop": 1}) if kind == "loop" else Counter())
