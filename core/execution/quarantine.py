"""Quarantine: an incident keeps a command that cannot be handled or saved, until a person resolves it."""

from __future__ import annotations

from typing import Any

from vivero.core.commands.conditional_change import change_of
from vivero.core.dispatch import COMMANDS
from vivero.core.records.base import Command
from vivero.core.records.codec import encode_command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Effects, IncidentType, Rejection, incident_message
from vivero.core.records.instances import COMMAND_STAGE, IncidentRaised
from vivero.core.records.jobs import JobWithheld
from vivero.core.records.timers import TimerFailed, TriggerTimer
from vivero.core.state.instance_tree import Element, Instance, Job
from vivero.core.state.rows import Row
from vivero.core.view import View


def quarantine(command: Command, rejection: Rejection, view: View) -> Effects:
    """The effects of a rejected command: an incident that keeps it, and answers to everybody who waits for it."""
    if isinstance(command, ChangeIfMatch):  # once a person resolves the incident, the condition has served its purpose
        command = change_of(command)
    yield from _raise_incident(command, rejection.reason, view)
    rejected = COMMANDS[type(command)].rejected
    if rejected is not None:
        yield from rejected(command, rejection, view)


def _raise_incident(command: Command, reason: str, view: View) -> Effects:
    """Raise the incident, if the command belongs to a tree.

    Until it is resolved, the timer does not fire again, and no worker gets the job again: its result would be rejected
    again (docs/design/log.md §5).
    """
    timer = view.timer(command.key) if isinstance(command, TriggerTimer) else None
    job = _reported_job(command, view) if command.reports_job else None
    if timer is not None:
        yield TimerFailed(timer.key)
    if job is not None:
        yield JobWithheld(job.key)
    about = timer or job
    place = _root_of(command, view) if about is None or about.element is None else about.element
    if place is not None:
        kept = {"intent": command.intent, "command": encode_command(command).decode()}
        message = incident_message(f"Command '{command.intent}' at position {view.position}: {reason}")
        job_key = None if job is None else job.key
        yield IncidentRaised(view.key(), place.key, COMMAND_STAGE, IncidentType.UNKNOWN, message, job_key, kept)


def _reported_job(command: Any, view: View) -> Job | None:
    """The job that the command reports on; None if its lease was lost, or the job has an incident already."""
    job = view.job(command.key)
    if job is None or not view.enter(job.element.instance.tenant):
        return None
    if command.lease is not None and view.token_of(job.key) != command.lease:
        return None
    has_incident = any(incident.job == job.key for incident in job.element.waits.incidents.values())
    return None if has_incident else job


def _root_of(command: Command, view: View) -> Instance | None:
    """The root of the tree that the command's key belongs to, if it is in memory."""
    key = getattr(command, "key", None)
    if key is None:
        return None
    state = view.state
    tables = (
        *(state.elements, state.jobs, state.incidents),
        *(state.user_tasks, state.subscriptions, state.timers),
    )
    row: Row | None = next((table[key] for table in tables if key in table), None)
    element: Element | None = None if row is None else row.place()
    tree = None if element is None else state.trees.get(element.tree.key)
    return tree.root if tree is not None and view.enter(tree.root.tenant) else None
