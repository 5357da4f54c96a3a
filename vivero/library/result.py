"""The result of a call of the library: the new snapshot, the instance as it is now, and what happened meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vivero.core.records.base import Command, Event, Variables
from vivero.core.records.instances import (
    ElementActivating,
    ElementCompleted,
    ElementTerminated,
    IncidentRaised,
    InstanceCreated,
)
from vivero.core.records.jobs import JobCreated
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.timers import TimerTriggered
from vivero.core.snapshots import codec
from vivero.library.machine import Machine, Place
from vivero.library.overview import Incident, Instance, Job, overview, value_of
from vivero.library.undos import Before, UndoOffer, offer_of


@dataclass(frozen=True, slots=True)
class ThrownMessage:
    """A message that an element published. Its own instance got it; publish it to others that may wait for it."""

    name: str
    correlation_key: str
    variables: Mapping[str, Any]
    time_to_live_ms: int
    message_id: str | None


@dataclass(frozen=True, slots=True)
class ThrownSignal:
    """A signal that an element threw. Its own instance got it; broadcast it to others that may wait for it."""

    name: str
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Happened:
    """The events of one call. Elements are in the order in which they began and ended, by their ids."""

    entered: tuple[str, ...]
    completed: tuple[str, ...]
    terminated: tuple[str, ...]
    reached: frozenset[Place]
    """Elements that were entered and sequence flows that were taken, each with its process: (process id, id)."""
    timers: int
    """The number of timers that fired."""
    jobs: tuple[Job, ...]
    """New jobs that are still open."""
    incidents: tuple[Incident, ...]
    """New incidents that are still open."""
    messages: tuple[ThrownMessage, ...]
    signals: tuple[ThrownSignal, ...]
    ended: bool
    """Whether the instance ended."""


@dataclass(frozen=True, slots=True)
class Result:
    """`snapshot` is the JSON document to store, `version` the number in it."""

    snapshot: str
    version: int
    instance: Instance
    happened: Happened
    undo: UndoOffer | None = None
    """Whether an operation on the instance can be taken back; None for other calls."""


def result_of(machine: Machine, operated: tuple[int, Before] | None = None) -> Result:
    """The result of the commands that a machine has run. `operated`: the key of an operation, and the state before."""
    snapshot = machine.snapshot()
    instance = overview(snapshot)
    undo = None if operated is None else offer_of(machine, *operated, snapshot.version)
    return Result(codec.encode(snapshot), snapshot.version, instance, _happened(machine, instance), undo)


def _happened(machine: Machine, instance: Instance) -> Happened:
    events = list(machine.events())
    places = machine.places | new_places(machine.places, events)
    jobs = {event.key for event in events if isinstance(event, JobCreated)}
    raised = {event.key for event in events if isinstance(event, IncidentRaised)}

    def ids(kind: type[ElementActivating | ElementCompleted | ElementTerminated]) -> tuple[str, ...]:
        return tuple(places[event.key][1] for event in events if isinstance(event, kind))

    return Happened(
        entered=ids(ElementActivating),
        completed=ids(ElementCompleted),
        terminated=ids(ElementTerminated),
        reached=frozenset(reached(places, events)),
        timers=sum(isinstance(event, TimerTriggered) for event in events),
        jobs=tuple(job for job in instance.jobs if job.key in jobs),
        incidents=tuple(incident for incident in instance.incidents if incident.key in raised),
        messages=tuple(_messages(machine.commands)),
        signals=tuple(_signals(machine.commands)),
        ended=instance.ended,
    )


def new_places(known: Mapping[int, Place], events: Iterable[Event]) -> dict[int, Place]:
    """The places of the elements that began, by key. `known`: those of before."""
    found: dict[int, Place] = {}
    for event in events:
        if isinstance(event, InstanceCreated):
            found[event.key] = event.process_id, event.process_id
        elif isinstance(event, ElementActivating):
            process_id, _ = found[event.scope] if event.scope in found else known[event.scope]
            found[event.key] = process_id, event.element
    return found


def reached(places: Mapping[int, Place], events: Iterable[Event]) -> Iterator[Place]:
    """The elements that were entered, and the flows that were taken."""
    for event in events:
        if isinstance(event, InstanceCreated | ElementActivating):
            yield places[event.key]
        elif isinstance(event, ElementCompleted):
            yield from ((places[event.key][0], flow) for flow in event.flows)


def _messages(commands: Iterable[Command]) -> Iterator[ThrownMessage]:
    for one in commands:
        if isinstance(one, PublishMessage) and one.thrower is not None:
            yield ThrownMessage(
                one.name, one.correlation_key, _values(one.variables), one.time_to_live_ms, one.message_id
            )


def _signals(commands: Iterable[Command]) -> Iterator[ThrownSignal]:
    for one in commands:
        if isinstance(one, BroadcastSignal) and one.thrower is not None:
            yield ThrownSignal(one.name, _values(one.variables))


def _values(variables: Variables) -> dict[str, Any]:
    return {name: value_of(value) for name, value in variables.items()}
