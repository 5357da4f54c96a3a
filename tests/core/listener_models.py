"""Models with execution listeners, and engines that do their jobs.

    listening(process(start(), task("work"), …), work=["start a", "end b"])

A listener is `EVENT TYPE [RETRIES]`.
"""

from xml.etree import ElementTree

from tests.core.engine import Engine
from vivero.core.records.jobs import CompleteJob

BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
ZEEBE = "{http://camunda.org/schema/zeebe/1.0}"

NO_START = {"startEvent", "boundaryEvent"}
GATEWAYS = {"exclusiveGateway", "inclusiveGateway", "parallelGateway", "complexGateway", "eventBasedGateway"}
TASKS = {"task", "manualTask", "serviceTask", "sendTask", "receiveTask", "scriptTask", "businessRuleTask", "userTask"}
SCOPES = {"process", "subProcess", "transaction", "callActivity"}
EVENTS = {"startEvent", "endEvent", "intermediateThrowEvent", "intermediateCatchEvent", "boundaryEvent"}


def listening(model, **listeners):
    """The file with listeners at the elements of these ids."""
    root = ElementTree.fromstring(model)
    for id, given in listeners.items():
        (element,) = (one for one in root.iter() if one.get("id") == id)
        _add(element, [listener.split(" ") for listener in given])
    return ElementTree.tostring(root)


TASK_EVENTS = ("creating", "assigning", "updating", "completing", "canceling")


def listening_everywhere(model, subjects=None, type_of="{}", every_event=False):
    """The file with a listener for the start and the end of every element, or of the `subjects`.

    `every_event`: also for transitions of user tasks, before all instances of loops, and for cancelled processes."""
    root = ElementTree.fromstring(model)
    for element in list(root.iter()):
        tag, id = element.tag.removeprefix(BPMN), element.get("id")
        if tag in TASKS | SCOPES | EVENTS | GATEWAYS and (subjects is None or id in subjects):
            events = [*heard(element, tag), *(heard_sometimes(element, tag) if every_event else ())]
            _add(element, [(event, type_of.format(f"{id}-{event}")) for event in events])
            if every_event and element.find(f"{BPMN}extensionElements/{ZEEBE}userTask") is not None:
                _add(element, [(event, type_of.format(f"{id}-{event}")) for event in TASK_EVENTS], "taskListener")
    return ElementTree.tostring(root)


def heard(element, tag):
    if tag not in NO_START:
        yield "start"
    if element.find(f"{BPMN}compensateEventDefinition") is not None and tag == "boundaryEvent":
        return
    never_completes = any(element.find(f"{BPMN}{kind}EventDefinition") is not None for kind in ("error", "cancel"))
    if tag not in GATEWAYS and not (tag == "endEvent" and never_completes):
        yield "end"


def heard_sometimes(element, tag):
    if tag == "process":
        yield "cancel"
    if element.find(f"{BPMN}multiInstanceLoopCharacteristics") is not None:
        yield "beforeAll"


def _add(element, listeners, name="executionListener"):
    holder = element.find(f"{BPMN}extensionElements")
    if holder is None:
        holder = ElementTree.Element(f"{BPMN}extensionElements")
        element.insert(0, holder)
    into = ElementTree.SubElement(holder, f"{ZEEBE}{name}s")
    for listener in listeners:
        attributes = dict(zip(("eventType", "type", "retries"), listener, strict=False))
        ElementTree.SubElement(into, f"{ZEEBE}{name}", attributes)


def listeners_of(engine):
    """`TYPE` of each open job of a listener, oldest first."""
    return [job.type for job in engine.state.jobs.values() if job.kind == "EXECUTION_LISTENER"]


def tell_all(engine):
    """Complete the jobs of listeners, oldest first, until there are none."""
    told = 0
    while (job := next((j for j in engine.state.jobs.values() if j.kind != "BPMN_ELEMENT"), None)) is not None:
        handled = Engine.run(engine, CompleteJob(job.key))
        assert handled.rejection is None, handled.rejection
        told += 1
        assert told < 10_000
    return told


COMPUTED = '=if nothing = null then "{}" else nothing'
"""A type that is evaluated."""


class Attended(Engine):
    """An engine on which every element has listeners, whose jobs are done at once: nobody should see a difference."""

    told = 0

    def deploy(self, *models, name="p.bpmn"):
        attended = (listening_everywhere(model, type_of=COMPUTED, every_event=True) for model in models)
        return super().deploy(*attended, name=name)

    def run(self, command, tenant="<default>"):
        handled = super().run(command, tenant)
        self.told += tell_all(self)
        return handled
