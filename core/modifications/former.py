"""The elements that a modification terminates, as the events that would restore them with all that they wait for.

The undo of the modification gives them new keys. Anything that events cannot bring back exactly is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

import msgspec

from vivero.core.bpmn.elements.ad_hoc import INNER_TYPE
from vivero.core.records.instances import COMMAND_STAGE, IncidentRaised
from vivero.core.records.jobs import JobCreated, JobErrorThrown, JobFailed
from vivero.core.records.messages import SubscriptionOpened
from vivero.core.records.modifications import ElementRestored, LoopProgress, Restoring
from vivero.core.records.timers import TimerFailed, TimerScheduled
from vivero.core.records.user_tasks import UserTaskCreated
from vivero.core.state.instance_tree import TERMINATING, Element, Incident, Instance, Job, Subscription, Timer, UserTask

MOST_RESTORED = 100
"""Element instances that an undo restores. The event of the modification has all of them."""
MOST_RESTORED_CHARACTERS = 100_000
"""Characters of their variables, headers, items, results, names and incidents."""

NOT_RESTORED = {
    **dict.fromkeys(("AD_HOC_SUB_PROCESS", INNER_TYPE), "it has terminated an ad-hoc sub-process"),
    **dict.fromkeys(("INTERMEDIATE_THROW_EVENT", "END_EVENT"), "it has terminated a throwing event"),
}
"""Types of elements → why they cannot be restored."""


class Lost(Exception):
    """Events cannot restore what the modification terminates. The message says why, as it follows after "because"."""


def former_of(ending: Mapping[int, Element]) -> tuple[Restoring, ...]:
    """The events that would restore these elements with all that is in them, outer ones first. Raises Lost."""
    elements = list(_all_in(_outermost(ending)))
    if sum(map(_characters_of, elements)) > MOST_RESTORED_CHARACTERS:
        raise Lost(
            f"it has terminated elements with more than {MOST_RESTORED_CHARACTERS:,} characters of variables, items "
            "and names"
        )
    restored = {element.key for element in elements}
    return tuple(event for element in elements for event in _events_of(element, restored))


def _outermost(ending: Mapping[int, Element]) -> Iterator[Element]:
    return (one for one in ending.values() if ending.keys().isdisjoint(one.path[1:]))


def _all_in(elements: Iterable[Element]) -> Iterator[Element]:
    """The elements and all below them, each scope before what is in it. Raises Lost."""
    pending, count = list(elements), 0
    while pending:
        element = pending.pop()
        count += 1
        if count > MOST_RESTORED:
            raise Lost(f"it has terminated more than {MOST_RESTORED} elements")
        _check(element)
        pending += element.children.values()
        yield element


def _check(element: Element) -> None:
    """Raises Lost for an element whose state is more than its own row, its variables and its waits."""
    reasons = {
        NOT_RESTORED.get(element.type, ""): element.type in NOT_RESTORED,
        "it has ended a process instance": isinstance(element, Instance),
        "it has terminated an element that was ending": element.state is TERMINATING or element.then is not None,
        "it has terminated a part of a loop that is loaded in pages": bool(element.part or element.pages),
        "it has terminated what compensates, or can be compensated": bool(element.compensation or element.registered),
        "it has terminated a call activity that calls": _calls(element),
    }
    for reason, applies in reasons.items():
        if applies:
            raise Lost(reason)


def _calls(element: Element) -> bool:
    waits = element.waits
    is_body = element.type == "MULTI_INSTANCE_BODY"
    return element.type == "CALL_ACTIVITY" and not is_body and not (waits.incidents or waits.jobs)


def _characters_of(element: Element) -> int:
    waits = element.waits
    variables = sum(len(one.value) for one in element.variables.values())
    headers = sum(len(text) for job in waits.jobs.values() for text in job.headers.values())
    headers += sum(len(text) for task in waits.user_tasks.values() for text in task.headers.values())
    items = sum(len(one.item) + len(one.result or "") for one in element.items)
    names = sum(len(name) for task in waits.user_tasks.values() for name in _names_of(task))
    names += sum(len(one.correlation_key or "") for one in waits.subscriptions.values())
    texts = sum(len(one.message) + _characters_of_argument(one) for one in waits.incidents.values())
    texts += sum(len(text) for kept in element.occurrences.values() for text in kept.values())
    return variables + headers + items + names + texts + sum(map(len, (element.occurred or {}).values()))


def _names_of(task: UserTask) -> tuple[str, ...]:
    return (*task.candidate_groups, *task.candidate_users, task.assignee or "")


def _characters_of_argument(incident: Incident) -> int:
    """The argument of a stage may have the variables of an event."""
    return len(msgspec.json.encode(incident.argument)) if incident.argument else 0


def _events_of(element: Element, restored: set[int]) -> Iterator[Restoring]:
    yield _restored(element, restored)
    waits = element.waits
    for job in waits.jobs.values():
        yield from _job(job)
    for task in waits.user_tasks.values():
        yield _user_task(task)
    for timer in waits.timers.values():
        yield from _timer(timer)
    for subscription in waits.subscriptions.values():
        yield _subscription(subscription)
    for incident in waits.incidents.values():
        yield _incident(incident, waits.jobs)


def _restored(element: Element, restored: set[int]) -> ElementRestored:
    scope = element.scope
    assert scope is not None, "a process instance is not restored"
    inside = Counter(child.element for child in element.children.values())
    return ElementRestored(
        element.key,
        element.key,
        scope.key,
        element.element,
        element.type,
        str(element.state),
        element.label,
        element.index,
        tuple((one.key, one.name, one.value) for one in element.variables.values()),
        {place: left for place, number in element.tokens.items() if (left := number - inside[place])},
        element.interrupted,
        element.awaiting_reset,
        element.occurred,
        element.occurrences,
        _loop(element),
        element.is_inner and scope.key not in restored,
    )


def _loop(body: Element) -> LoopProgress | None:
    loop = body.loop
    if loop is None:
        return None
    items = tuple((one.item, one.result) for one in body.items)
    return LoopProgress(loop.next, loop.completed, loop.terminated, loop.collected, items)


def _job(job: Job) -> Iterator[Restoring]:
    """A job that is open again after an incident still tells its error, which no event of an open job restores."""
    if job.state != "ERROR_THROWN" and (job.error_code is not None or _is_open_with_error(job)):
        raise Lost("it has terminated an element whose job was activated again after an incident")
    kind = job.kind, job.listener_event, job.listener_index
    yield JobCreated(job.key, job.element.key, job.type, job.retries, job.priority, job.headers, *kind)
    if job.state == "FAILED":
        yield JobFailed(job.key, job.retries, job.available_at, job.error_message)
    elif job.state == "ERROR_THROWN":
        yield JobErrorThrown(job.key, job.error_code or "", job.error_message)


def _is_open_with_error(job: Job) -> bool:
    return job.state == "CREATED" and job.error_message is not None


def is_closed(job: Job) -> bool:
    """Whether no worker can have the job, because it waits for the resolution of its incident."""
    return job.state == "ERROR_THROWN" or (job.state == "FAILED" and job.retries <= 0)


_of_task = attrgetter(*UserTaskCreated.__struct_fields__[2:])
"""The fields of a task that its creation says, which follow its key and its element."""


def _user_task(task: UserTask) -> UserTaskCreated:
    if task.transition is not None:
        raise Lost("it has terminated a user task with a change that waited for listeners")
    return UserTaskCreated(task.key, task.element.key, *_of_task(task))


def _timer(timer: Timer) -> Iterator[Restoring]:
    assert timer.element is not None, "it is a timer of an element"
    place = timer.key, timer.element.key, timer.target, timer.type
    yield TimerScheduled(*place, timer.due_at, timer.repetitions, timer.cycle)
    if timer.state == "FAILED":
        yield TimerFailed(timer.key)


def _subscription(one: Subscription) -> SubscriptionOpened:
    if one.state != "CREATED" or one.suspended:
        raise Lost("it has terminated an element whose event was on its way")
    place = one.key, one.element.key, one.target, one.type
    return SubscriptionOpened(*place, one.kind, one.name, one.correlation_key, one.interrupting)


def _incident(one: Incident, jobs: Mapping[int, Job]) -> IncidentRaised:
    if one.stage == COMMAND_STAGE:
        raise Lost("it has terminated an element with an incident of a command")
    if one.job is not None and (one.job not in jobs or not is_closed(jobs[one.job])):
        raise Lost("it has terminated an element whose job could not be activated")
    return IncidentRaised(one.key, one.element.key, one.stage, one.type, one.message, one.job, one.argument)
