"""The state of one process instance in a source, read by several searches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from vivero.client.rest import ApiError, Client, Document, path_part
from vivero.core.bpmn.model import Process, TimerEvent, parts_of
from vivero.importing.calls import count, found, get, page
from vivero.importing.plan import MAX_BYTES, MAX_ELEMENTS, SourceState, counted, joins_tokens

NO_SUCH_ROUTE = (404, 405)
MOST = 10 * MAX_ELEMENTS
"""Jobs, user tasks, timers and subscriptions of an instance that are read."""


async def read(client: Client, instance: Document, process: Process) -> SourceState:
    """The state of an instance. Values of variables are JSON texts. Raises ClientError."""
    key = instance["processInstanceKey"]
    of_instance = {"processInstanceKey": key}
    active, more = await found(client, "element-instances", of_instance | {"state": "ACTIVE"}, MAX_ELEMENTS + 1)
    elements = [one for one in active if one["elementId"] != process.id]
    variables, too_large = await _variables(client, key)
    if more or too_large:
        return SourceState(instance, more=True)
    keys = [key, *(one["elementInstanceKey"] for one in elements)]
    jobs, more_jobs = await found(client, "jobs", {"elementInstanceKey": {"$in": keys}}, MOST)
    tasks = [task for one in elements if one["type"] == "USER_TASK" for task in await _tasks(client, one)]
    return SourceState(
        instance,
        elements,
        variables,
        [job for job in jobs if job.get("endTime") is None],
        [task for task in tasks if task.get("completionDate") is None],
        await _timers(client, key, elements, process),
        await _keys(client, key),
        await _flows(client, key) if joins_tokens(process) else frozenset(),
        await _ended(client, key, counted(process, elements)),
        more_jobs,
    )


async def _tasks(client: Client, element: Document) -> list[Document]:
    """The user tasks of an element instance: one, or none if it is a job or waits for a listener."""
    return (await found(client, "user-tasks", {"elementInstanceKey": element["elementInstanceKey"]}, MAX_ELEMENTS))[0]


async def _variables(client: Client, key: str) -> tuple[list[Document], bool]:
    """All variables, and whether they are too large."""
    variables: list[Document] = []
    size, after = 0, None
    while True:
        one = await page(client, "variables", {"processInstanceKey": key}, whole_values=True, after=after)
        variables += one.items
        size += sum(len(item["name"]) + len(item["value"].encode()) for item in one.items)
        after = one.after
        if after is None or size > MAX_BYTES:
            return variables, size > MAX_BYTES


async def _timers(client: Client, key: str, elements: Sequence[Document], process: Process) -> list[Document] | None:
    """The pending timers, each with the `elementId` of its event; None if the source does not tell.

    Vivero has a search of timers. Camunda 8.10 has wait states, which name the element that waits: an activity with
    several timers at it does not tell which of them is due.
    """
    of_instance = {"processInstanceKey": key}
    try:
        return (await found(client, "timers", of_instance | {"state": "PENDING"}, MOST))[0]
    except ApiError as error:
        if error.status not in NO_SUCH_ROUTE:
            raise
    filter = of_instance | {"waitStateType": "TIMER"}
    try:
        waits, _ = await found(client, "element-instances/wait-states", filter, MOST)
    except ApiError as error:
        if error.status not in NO_SUCH_ROUTE:
            raise
        return None
    events = [_timer_events(one["elementId"], process) for one in waits]
    if any(len(each) != 1 for each in events):
        return None
    return [
        {"elementId": event, "dueDate": _date(one["details"]["dueDate"])}
        for [event], one in zip(events, waits, strict=True)
    ]


def _timer_events(element: str, process: Process) -> list[str]:
    """The timer events for which an element waits: itself, those at it, and those behind it."""
    node = process.nodes.get(element)
    if node is None:
        return []
    behind = (process.flows[flow].target for flow in node.outgoing) if node.type == "EVENT_BASED_GATEWAY" else ()
    around = [node, *(process.nodes[id] for id in (*node.boundaries, *behind))]
    starts = [process.nodes[process.nodes[id].start or id] for id in node.event_sub_processes]
    return [one.id for one in (*around, *starts) if any(isinstance(part, TimerEvent) for part in parts_of(one.event))]


def _date(due: str | int) -> str:
    """The due date as text. The plan refuses what is no date."""
    try:
        return datetime.fromtimestamp(float(due) / 1000, UTC).isoformat(timespec="milliseconds")
    except (TypeError, ValueError, OverflowError, OSError):
        return str(due)


async def _keys(client: Client, key: str) -> list[str]:
    """The correlation keys of the messages for which an instance waits. Called instances have their own."""
    filter = {"processInstanceKey": key, "messageSubscriptionState": "CREATED"}
    subscriptions, _ = await found(client, "message-subscriptions", filter, MOST)
    return [one["correlationKey"] for one in subscriptions if one["correlationKey"]]


async def _flows(client: Client, key: str) -> frozenset[str]:
    taken = await get(client, f"/v2/process-instances/{path_part(key)}/sequence-flows")
    return frozenset(one["elementId"] for one in taken["items"])


async def _ended(client: Client, key: str, elements: set[str]) -> dict[str, int]:
    """The numbers of instances of elements that have completed."""
    return {
        element: await count(
            client,
            "element-instances",
            {"processInstanceKey": key, "elementId": element, "state": "COMPLETED"},
        )
        for element in sorted(elements)
    }
