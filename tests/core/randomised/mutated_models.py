"""Other versions of a model: changes that people make between two versions, and some that no migration accepts."""

import xml.etree.ElementTree as ET
from itertools import count

BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
ZEEBE = "{http://camunda.org/schema/zeebe/1.0}"

TASKS = [f"{BPMN}{kind}Task" for kind in ("service", "user", "script", "manual", "receive", "businessRule", "send")]
ACTIVITIES = [*TASKS, *(f"{BPMN}{kind}" for kind in ("subProcess", "callActivity", "adHocSubProcess", "transaction"))]
HOUR = "PT1H"


def mutated(content, random):
    """The file with some changes, and source id → target id of the nodes and flows that both versions have."""
    version = _Version(content, random)
    before = set(version.ids())
    for change in random.choices(_CHANGES, k=random.choice((0, 1, 1, 2, 4))):
        change(version)
    return version.renamed(before & set(version.ids()))


class _Version:
    def __init__(self, content, random) -> None:
        self.root, self.random, self.new = ET.fromstring(content), random, count(1)
        self.stem = f"new{random.randrange(10**6)}"

    def ids(self):
        """The ids of all nodes and flows."""
        return [one.get("id") for process in self.root.iter(f"{BPMN}process") for one in _inside(process)]

    def id(self):
        return f"{self.stem}-{next(self.new)}"

    def parents(self):
        return {child: parent for parent in self.root.iter() for child in parent}

    def any(self, *tags, fits=lambda element: True):
        """A random element of these; None: there is none."""
        found = [one for tag in tags for one in self.root.iter(tag) if one.get("id") is not None and fits(one)]
        return self.random.choice(found) if found else None

    def references(self, name, value):
        return [one for one in self.root.iter() if one.get(name) == value]

    def renamed(self, common):
        """The text of the file, in which some ids are others."""
        share = self.random.choice((0, 0, 0.3, 1))
        names = {id: f"{id}-m" if self.random.random() < share else id for id in sorted(common)}
        text = ET.tostring(self.root, encoding="unicode")
        for before, after in names.items():
            for left, right in ('""', "><", ("&quot;", "&quot;")):
                text = text.replace(f"{left}{before}{right}", f"{left}{after}{right}")
        return text.encode(), names


def _inside(scope):
    for child in scope:
        if child.get("id") is not None and child.tag.startswith(BPMN):
            yield child
            yield from _inside(child)


def _insert_task(version):
    """A task within a flow."""
    flow = version.any(f"{BPMN}sequenceFlow")
    if flow is None:
        return
    task, scope = _job(version, version.parents()[flow]), version.parents()[flow]
    ET.SubElement(
        scope, f"{BPMN}sequenceFlow", id=version.id(), sourceRef=task.get("id"), targetRef=flow.get("targetRef")
    )
    flow.set("targetRef", task.get("id"))


def _job(version, scope):
    task = ET.SubElement(scope, f"{BPMN}serviceTask", id=version.id())
    ET.SubElement(ET.SubElement(task, f"{BPMN}extensionElements"), f"{ZEEBE}taskDefinition", type="t")
    return task


def _delete_task(version):
    """A task with one way in and one way out, which are joined."""

    def is_simple(task):
        ways = (version.references(end, task.get("id")) for end in ("targetRef", "sourceRef"))
        hosts = version.references("attachedToRef", task.get("id"))
        return [len(way) for way in ways] == [1, 1] and not hosts and task.get("isForCompensation") is None

    task = version.any(*TASKS, fits=is_simple)
    if task is None:
        return
    (before,), (behind,) = (version.references(end, task.get("id")) for end in ("targetRef", "sourceRef"))
    if before is not behind:
        before.set("targetRef", behind.get("targetRef"))
        _remove(version, task, behind)


def _remove(version, *elements):
    parents = version.parents()
    for element in elements:
        parents[element].remove(element)


def _change_listeners(version):
    """An activity loses its execution listeners, or gets one."""
    task = version.any(*TASKS)
    if task is None:
        return
    inside = task.find(f"{BPMN}extensionElements")
    if inside is None:
        inside = ET.Element(f"{BPMN}extensionElements")
        task.insert(0, inside)
    listeners = inside.find(f"{ZEEBE}executionListeners")
    if listeners is not None:
        inside.remove(listeners)
        return
    listeners = ET.SubElement(inside, f"{ZEEBE}executionListeners")
    ET.SubElement(listeners, f"{ZEEBE}executionListener", eventType=version.random.choice(("start", "end")), type="t")


def _add_boundary(version):
    host = version.any(*ACTIVITIES, fits=lambda one: not (one.get("isForCompensation") or one.get("triggeredByEvent")))
    if host is not None:
        cancels = version.random.choice(("true", "false"))
        place = {"attachedToRef": host.get("id"), "cancelActivity": cancels}
        event = ET.SubElement(version.parents()[host], f"{BPMN}boundaryEvent", id=version.id(), **place)
        _define(version, event)


def _define(version, event):
    """A definition that the event waits for: a timer, a message, a signal or a condition."""
    kind, name = (
        version.random.choice(("timer", "message", "signal", "condition")),
        version.random.choice(("one", "two")),
    )
    if kind == "timer":
        ET.SubElement(ET.SubElement(event, f"{BPMN}timerEventDefinition"), f"{BPMN}timeDuration").text = HOUR
    elif kind == "condition":
        ET.SubElement(ET.SubElement(event, f"{BPMN}conditionalEventDefinition"), f"{BPMN}condition").text = "=v0 = 1"
    else:
        ET.SubElement(event, f"{BPMN}{kind}EventDefinition", {f"{kind}Ref": f"{kind[0]}-{name}"})


def _remove_boundary(version):
    event = version.any(f"{BPMN}boundaryEvent")
    if event is not None:
        ways = version.references("sourceRef", event.get("id"))
        _remove(version, event, *ways)


def _add_event_sub_process(version):
    scope = version.any(f"{BPMN}process", f"{BPMN}subProcess")
    if scope is not None:
        handler = ET.SubElement(scope, f"{BPMN}subProcess", id=version.id(), triggeredByEvent="true")
        interrupting = version.random.choice(("true", "false"))
        _define(version, ET.SubElement(handler, f"{BPMN}startEvent", id=version.id(), isInterrupting=interrupting))
        _job(version, handler)
        flow = {"sourceRef": handler[0].get("id"), "targetRef": handler[1].get("id")}
        ET.SubElement(handler, f"{BPMN}sequenceFlow", id=version.id(), **flow)


def _change_interruption(version):
    name = version.random.choice(("cancelActivity", "isInterrupting"))
    event = version.any(f"{BPMN}boundaryEvent", f"{BPMN}startEvent", fits=lambda one: one.get(name) is not None)
    if event is not None:
        event.set(name, "false" if event.get(name) == "true" else "true")


def _nest(version):
    """A task gets a scope around it, which takes over its flows and boundary events."""
    task = version.any(*TASKS, fits=lambda one: one.get("isForCompensation") is None)
    if task is None:
        return
    scope, id = version.parents()[task], version.id()
    around = ET.SubElement(scope, f"{BPMN}subProcess", id=id)
    for name in ("sourceRef", "targetRef", "attachedToRef"):
        for one in version.references(name, task.get("id")):
            one.set(name, id)
    scope.remove(task)
    around.append(task)


def _change_type(version):
    task = version.any(f"{BPMN}serviceTask", f"{BPMN}sendTask")
    if task is not None:
        task.tag = f"{BPMN}{'send' if task.tag.endswith('serviceTask') else 'service'}Task"


_CHANGES = (
    *(_insert_task, _insert_task, _delete_task, _delete_task, _change_listeners, _add_boundary, _add_boundary),
    *(_remove_boundary, _add_event_sub_process, _change_interruption, _nest, _change_type),
)
