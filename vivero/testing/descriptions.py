"""Describes an instance in words, for the message of a failed test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from vivero.library import Instance

LONGEST_VALUE = 200


def describe(instance: Instance, completed: list[str], about_type: Callable[[str], str] = lambda _type: "") -> str:
    """Several lines: what the instance waits for, its incidents, its path, its variables.

    `about_type`: the end of the sentence about a job of this type.
    """
    return "\n".join(_lines(instance, completed, about_type))


def _lines(instance: Instance, completed: list[str], about_type: Callable[[str], str]) -> Iterator[str]:
    if instance.ended:
        yield f"The instance of '{instance.process_id}' has ended: it is {instance.state}."
    else:
        state = "active" if instance.suspended_at is None else "suspended"
        yield f"The instance of '{instance.process_id}' is {state}. It waits"
        yield from (f"  {line}" for line in list(_waits(instance, about_type)) or ["for nothing"])
    for incident in instance.incidents:
        yield f"It has an incident at '{incident.element}', {incident.type}: {incident.message}"
    yield f"It has completed: {', '.join(completed) or 'nothing'}."
    yield "Its variables:" if instance.variables else "It has no variables."
    for name, value in instance.variables.items():
        yield f"  {name} = {shown(value)}"


def _waits(instance: Instance, about_type: Callable[[str], str]) -> Iterator[str]:
    stopped = {incident.job_key for incident in instance.incidents}
    for job in instance.jobs:
        until = f", until {job.retry_at:%Y-%m-%d %H:%M:%S}" if job.retry_at is not None and not job.available else ""
        failed = f", after it failed: {job.error_message.splitlines()[0]}" if job.error_message else ""
        if job.key not in stopped:
            yield f"at '{job.element}' for a job of type '{job.type}'{until}{failed}{about_type(job.type)}"
    for task in instance.user_tasks:
        whom = f", assigned to '{task.assignee}'" if task.assignee else ""
        yield f"at '{task.element}' for a user task{whom}"
    for timer in instance.timers:
        yield f"at '{timer.element}' for a timer, due in {timer.due_at - instance.at}"
    for wait in instance.waits:
        key = "" if wait.correlation_key is None else f" with correlation key '{wait.correlation_key}'"
        name = f" '{wait.name}'" if wait.name else ""
        yield f"at '{wait.element}' for a {wait.kind.lower()}{name}{key}"


def shown(value: object) -> str:
    """A value as JSON, shortened."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
