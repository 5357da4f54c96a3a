"""The plan of one copy: the elements at which it begins, or all reasons why the instance stays in the source.

A copy begins before the elements that are active. Everything that such a beginning would lose, or do a second time, is
a reason to stay. No input is read here: `state.read` collects what the plan needs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vivero.client.rest import Document
from vivero.core.bpmn.model import ConditionalEvent, MessageEvent, Node, Process, TimerEvent, parts_of
from vivero.core.bpmn.reading.text_limits import TAGS
from vivero.core.commands import start_instructions
from vivero.core.events.schedules import InvalidSchedule, due_date_of
from vivero.core.feel import EvaluationError, Expression, from_json, to_json
from vivero.core.records.effects import Reject
from vivero.core.rules import TimerRules

MAX_ELEMENTS = 100
"""A creation begins at most at so many elements."""
MAX_BYTES = 4 * 1024 * 1024
"""Bytes of all variables of an instance."""
SOON_MS = 10 * 60_000
"""The time within which the timers of a copy are moved, also if the target is away in between, and clocks differ."""
TAG = "imported-from:"
"""The copy has a tag with the key of its original, and a digest of the source, behind this."""

LEAVES = frozenset(
    {
        "BUSINESS_RULE_TASK",
        "END_EVENT",
        "EVENT_BASED_GATEWAY",
        "INTERMEDIATE_CATCH_EVENT",
        "INTERMEDIATE_THROW_EVENT",
        "RECEIVE_TASK",
        "SCRIPT_TASK",
        "SEND_TASK",
        "SERVICE_TASK",
        "USER_TASK",
    }
)
SCOPES = frozenset({"SUB_PROCESS"})
STAY = {
    "CALL_ACTIVITY": "it would call again from the beginning",
    "AD_HOC_SUB_PROCESS": "its inner instances cannot be started one by one",
    "EVENT_SUB_PROCESS": "nothing can begin in an event sub-process whose event has occurred",
    "TRANSACTION": "its compensations would be lost",
    "MULTI_INSTANCE_BODY": "its inner instances cannot be started one by one",
}
JOINING = frozenset({"PARALLEL_GATEWAY", "INCLUSIVE_GATEWAY", "COMPLEX_GATEWAY"})
BEGINNING = frozenset({"START", "BEFORE_ALL", "CREATING", "ASSIGNING"})
"""The events of listeners that come before the work of an element."""
RUNNING = frozenset({"ACTIVE", "SUSPENDED"})
TASK_FIELDS = ("candidateGroups", "candidateUsers", "dueDate", "followUpDate", "priority")


@dataclass(frozen=True, slots=True)
class SourceState:
    """The state of one instance in the source. Lists have only what is active or open."""

    instance: Document
    elements: Sequence[Document] = ()
    variables: Sequence[Document] = ()
    jobs: Sequence[Document] = ()
    tasks: Sequence[Document] = ()
    timers: Sequence[Document] | None = None
    """Each with the `elementId` of its event and its `dueDate`; None if the source does not tell."""
    keys: Sequence[str] = ()
    """The correlation keys of message subscriptions."""
    flows: frozenset[str] = frozenset()
    """The sequence flows that were taken."""
    ended: Mapping[str, int] = field(default_factory=dict)
    """The numbers of instances of the elements that `counted` names."""
    more: bool = False
    """Whether the lists are too long to be read whole."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A copy. With reasons there is none."""

    reasons: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """The variables of the process instance, as JSON texts."""
    timers: tuple[tuple[str, str], ...] = ()
    """The due dates that are moved, by element."""
    tasks: tuple[Document, ...] = ()
    """The changes of user tasks, by `elementId`."""
    notes: tuple[str, ...] = ()

    def as_json(self) -> str:
        """The text that the ledger keeps."""
        return json.dumps(
            {
                "elements": self.elements,
                "variables": dict(self.variables),
                "timers": self.timers,
                "tasks": self.tasks,
                "notes": self.notes,
            }
        )

    @classmethod
    def of_document(cls, found: Document) -> Plan:
        """The plan that `as_json` has written."""
        timers = tuple((element, due) for element, due in found["timers"])
        parts = tuple(found["elements"]), found["variables"], timers, tuple(found["tasks"]), tuple(found["notes"])
        return cls((), *parts)


def counted(process: Process, active: Sequence[Document]) -> set[str]:
    """The elements whose instances the plan must count."""
    nodes = [node for node in (process.nodes.get(one["elementId"]) for one in active) if node is not None]
    found = {one.id for node in (*nodes, process.root) for one in _recurring(process, node)}
    found |= {node.id for node in process.nodes.values() if node.compensated_by is not None}
    for gateway in _joins(process):
        found |= {gateway.id, *(process.flows[flow].source for flow in gateway.incoming)}
    return found


def joins_tokens(process: Process) -> bool:
    """Whether a gateway of the model may hold tokens, which no search shows."""
    return any(True for _ in _joins(process))


def plan(state: SourceState, process: Process, now: datetime) -> Plan:
    """The copy of an instance, or the reasons why there is none."""
    unusable = tuple(_of_variables(state))
    reasons: tuple[str, ...] = (
        *_of_instance(state),
        *_of_model(process, state),
        *(reason for one in state.elements for reason in _of_element(one, state, process)),
        *_of_jobs(state, now),
        *_of_tasks(state),
        *_of_times(state),
        *(unusable or (*_of_subscriptions(state, process), *_of_moved_timers(state, process, now))),
    )
    leaves = tuple(one["elementId"] for one in state.elements if _type(one, process) in LEAVES)
    if not leaves and not reasons:
        reasons = ("no element is active at which a copy could begin",)
    if reasons:
        return Plan(tuple(dict.fromkeys(reasons)))
    own = {one["name"]: one["value"] for one in state.variables if one["scopeKey"] == _key(state)}
    timers = tuple((one["elementId"], one["dueDate"]) for one in state.timers or ())
    return Plan((), leaves, own, timers, tuple(map(_changes, state.tasks)), tuple(_notes(state, process)))


def _key(state: SourceState) -> str:
    key: str = state.instance["processInstanceKey"]
    return key


def _type(element: Document, process: Process) -> str:
    node = process.nodes.get(element["elementId"])
    return element["type"] if node is None else node.entered_as


def _of_instance(state: SourceState) -> Iterator[str]:
    if state.instance["state"] not in RUNNING:
        yield f"it is {state.instance['state']}"
    if state.instance.get("parentProcessInstanceKey") is not None:
        yield "another process instance has called it"
    if state.instance.get("hasIncident"):
        yield "it has an incident: resolve that first"
    if state.more or len(state.elements) > MAX_ELEMENTS:
        yield f"it has more than {MAX_ELEMENTS} active elements, or more than {MAX_BYTES >> 20} MiB of variables"
    if len(state.instance.get("tags") or ()) >= TAGS:
        yield f"it has {TAGS} tags, and its copy needs one more"


def _of_model(process: Process, state: SourceState) -> Iterator[str]:
    for node in process.nodes.values():
        if node.compensated_by is not None and state.ended.get(node.id):
            yield f"'{node.id}' has completed, and a copy could not compensate it"
        if node.start_quantity > 1:
            yield f"'{node.id}' collects {node.start_quantity} tokens, and the source does not tell of those that wait"
    for gateway in _joins(process):
        if not _is_empty(gateway, process, state):
            yield f"tokens may wait at '{gateway.id}', and the source does not tell"
    yield from _of_events(process.root, process, state)


def _joins(process: Process) -> Iterator[Node]:
    return (node for node in process.nodes.values() if node.type in JOINING and len(node.incoming) > 1)


def _is_empty(gateway: Node, process: Process, state: SourceState) -> bool:
    """Whether no token can wait: as many have come on each flow as the gateway has consumed."""
    passed = state.ended.get(gateway.id, 0)
    came = [state.ended.get(process.flows[flow].source, 0) if flow in state.flows else 0 for flow in gateway.incoming]
    if gateway.type == "PARALLEL_GATEWAY":
        return all(number == passed for number in came)
    return all(number in (0, passed) for number in came) and (not passed or any(came))


def _of_element(element: Document, state: SourceState, process: Process) -> Iterator[str]:
    id, type = element["elementId"], _type(element, process)
    node = process.nodes.get(id)
    if node is None:
        yield f"'{id}' is not in its model"
        return
    if type in SCOPES:
        yield from _of_scope(element, node, state, process)
        return
    if type not in LEAVES:
        yield f"'{id}': " + STAY.get(type, f"a copy cannot begin at an element of type {type}")
        return
    try:
        start_instructions.check(process, (id,))
    except Reject as reject:
        yield f"'{id}': {reject.rejection.reason}"
    if node.awaits_all:
        yield f"'{id}' waits for several events, and some may have occurred"
    if events := BEGINNING & node.listeners.keys():
        yield f"'{id}': its listeners of {', '.join(sorted(events))} would run again"
    mapped = {mapping.root for mapping in node.inputs}
    if others := _locals(element, state) - mapped:
        yield f"'{id}' has local variables that a copy would lose: {', '.join(sorted(others))}"
    yield from _of_events(node, process, state)


def _of_scope(element: Document, node: Node, state: SourceState, process: Process) -> Iterator[str]:
    if Counter(one["elementId"] for one in state.elements)[node.id] > 1:
        yield f"'{node.id}' is active several times"
    if names := _locals(element, state):
        yield f"'{node.id}' has local variables that a copy would lose: {', '.join(sorted(names))}"
    yield from _of_events(node, process, state)


def _locals(element: Document, state: SourceState) -> set[str]:
    return {one["name"] for one in state.variables if one["scopeKey"] == element["elementInstanceKey"]}


def _of_events(node: Node, process: Process, state: SourceState) -> Iterator[str]:
    for event in _recurring(process, node):
        if state.ended.get(event.id):
            yield f"'{event.id}' has occurred already, and would occur again"


def _recurring(process: Process, node: Node) -> Iterator[Node]:
    """The events at a node that do not interrupt it, and that time or variables bring about: they would recur."""
    for id in (*node.boundaries, *node.event_sub_processes):
        event = process.nodes[id]
        start = event if event.start is None else process.nodes[event.start]
        if not start.interrupting and any(
            isinstance(one, TimerEvent | ConditionalEvent) for one in parts_of(start.event)
        ):
            yield event


def _of_jobs(state: SourceState, now: datetime) -> Iterator[str]:
    for job in state.jobs:
        if job.get("kind") not in (None, "BPMN_ELEMENT"):
            yield f"a listener of '{job['elementId']}' is at work"
        if (deadline := job.get("deadline")) is None:
            continue
        if (until := _moment(deadline)) is None:
            yield _no_time("deadline", f"the job {job['jobKey']}", deadline)
        elif until > now:
            yield f"the worker '{job.get('worker')}' has the job {job['jobKey']} until {deadline}: try again later"


def _moment(text: Any) -> datetime | None:
    """The time of a text; None if it is none, or has no zone."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def _no_time(field: str, whose: str, given: Any) -> str:
    return f"the source gives no valid time as the {field} of {whose}: {str(given)[:100]!r}"


def _of_times(state: SourceState) -> Iterator[str]:
    for timer in state.timers or ():
        if _moment(timer["dueDate"]) is None:
            yield _no_time("dueDate", f"the timer at '{timer['elementId']}'", timer["dueDate"])
    for task in state.tasks:
        for name in ("dueDate", "followUpDate"):
            if (given := task.get(name)) is not None and _moment(given) is None:
                yield _no_time(name, f"the user task {task['userTaskKey']}", given)


def _of_moved_timers(state: SourceState, process: Process, now: datetime) -> Iterator[str]:
    """The timers of a copy begin anew, and are moved then: one that is due sooner could fire before."""
    now_ms, context = round(now.timestamp() * 1000), _context(state)
    for timer in state.timers or ():
        until, node = _moment(timer["dueDate"]), process.nodes.get(timer["elementId"])
        if until is None or node is None:
            continue
        anew = min(_due_anew(node, context, now_ms), default=math.inf)
        if anew < min(until.timestamp() * 1000, now_ms + SOON_MS):
            yield f"the timer at '{node.id}' was moved to {timer['dueDate']}, and that of a copy would fire before"


def _due_anew(node: Node, context: Mapping[str, Any], now_ms: int) -> Iterator[int]:
    """The due dates of timers that begin now. One without a valid date gives the copy an incident, and never fires."""
    for part in parts_of(node.event):
        if isinstance(part, TimerEvent):
            with suppress(EvaluationError, InvalidSchedule):
                yield due_date_of(part.kind, part.expression.evaluate(context).value, now_ms, TimerRules()).at


def _context(state: SourceState) -> dict[str, Any]:
    """The variables as the innermost active elements see them."""
    inner_last = sorted(state.variables, key=lambda one: one["scopeKey"] != _key(state))
    return {one["name"]: from_json(one["value"]) for one in inner_last}


def _of_tasks(state: SourceState) -> Iterator[str]:
    for task in state.tasks:
        if task["state"] != "CREATED":
            yield f"the user task {task['userTaskKey']} is being changed: it is {task['state']}"


def _of_variables(state: SourceState) -> Iterator[str]:
    """A creation has the values as they are: a text that is more than one value would change the request."""
    for one in state.variables:
        try:
            from_json(one["value"])
        except EvaluationError:
            yield f"the source gives no valid JSON as the value of the variable '{one['name']}'"


def _of_subscriptions(state: SourceState, process: Process) -> Iterator[str]:
    """A copy evaluates correlation keys anew: the variables may have changed since the source did."""
    if not state.keys:
        return
    context = _context(state)
    found = {_text(expression, context) for expression in _correlation_keys(state, process)}
    for key in sorted(set(state.keys) - found):
        yield f"it waits for a message with the key '{key}', which its variables do not give any more"


def _correlation_keys(state: SourceState, process: Process) -> Iterator[Expression]:
    waits = [node for one in state.elements if (node := process.nodes.get(one["elementId"])) is not None]
    nodes = [process.root, *waits]
    for node in nodes:
        behind = [process.flows[flow].target for flow in node.outgoing] if node.type == "EVENT_BASED_GATEWAY" else []
        around = [process.nodes[id] for id in (*node.boundaries, *node.event_sub_processes, *behind)]
        for event in (node, *around):
            start = event if event.start is None or event is process.root else process.nodes[event.start]
            for part in parts_of(start.event):
                if isinstance(part, MessageEvent) and part.correlation_key is not None:
                    yield part.correlation_key


def _text(expression: Expression, context: Mapping[str, Any]) -> str | None:
    try:
        value = expression.evaluate(context).value
        return value if isinstance(value, str) else to_json(value)
    except EvaluationError:
        return None


def _changes(task: Document) -> Document:
    found = {name: task[name] for name in TASK_FIELDS if task.get(name) is not None}
    return {"elementId": task["elementId"], "assignee": task.get("assignee"), "changeset": found}


def _notes(state: SourceState, process: Process) -> Iterator[str]:
    waits = [process.nodes[one["elementId"]] for one in state.elements]
    events = [*waits, *(process.nodes[id] for node in waits for id in node.boundaries)]
    timed = [node.id for node in events if any(isinstance(one, TimerEvent) for one in parts_of(node.event))]
    if timed and state.timers is None:
        yield f"the source does not tell due dates: the time of {', '.join(map(repr, timed))} begins anew"
