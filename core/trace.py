"""Traces: events as compact lines for people, with ids of elements instead of keys.

The second instance of an element is `work~2`. An instance that began before the trace has the counter of its key as
its name (`#17`). The lines depend on the events alone: they can be compared, and stored as golden files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import msgspec

from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.records.base import Command, Event
from vivero.core.records.catalogue import DefinitionAdded, DeploymentCreated, FormAdded, GenericResourceAdded
from vivero.core.records.compensations import CompensationRegistered, CompensationStarted
from vivero.core.records.conditionals import ConditionalsEvaluated
from vivero.core.records.decision_evaluations import DecisionEvaluated
from vivero.core.records.decisions import DecisionAdded, RequirementsAdded
from vivero.core.records.effects import Rejection
from vivero.core.records.instances import (
    ElementActivating,
    ElementCompleted,
    IncidentRaised,
    InstanceCreated,
    VariableSet,
    WorkDeferred,
    WorkResumed,
)
from vivero.core.records.jobs import JobCreated
from vivero.core.records.messages import MessagePublished, SubscriptionOpened
from vivero.core.records.migrations import ElementsRenamed, InstanceMigrated
from vivero.core.records.modifications import PAGES, ElementRestored, InstanceModified
from vivero.core.records.signals import SignalBroadcast
from vivero.core.records.suspensions import (
    AWAIT_MESSAGE,
    RESCHEDULE,
    RESUME_WAITS,
    InstanceResumed,
    Items,
    WorkSuspended,
)
from vivero.core.records.user_tasks import UserTaskCreated

KEY_FIELDS = frozenset(
    {
        "key",
        "scope",
        "element",
        "body",
        "root",
        "job",
        "parent",
        "deployment",
        "definition_key",
        "form_key",
        "requirements",
    }
    | {"message", "subscription", "instance"}
)
"""Fields whose numbers are keys."""

WIDTH = 18
"""The column of the event names."""


class Trace:
    """Writes lines, and learns the names of new instances from the events."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._seen: dict[str, int] = {}

    def lines(self, events: Iterable[Event]) -> list[str]:
        """One line for each event."""
        return [self.line(event) for event in events]

    def line(self, event: Event) -> str:
        """`EventName  subject  changes`."""
        self._learn(event)
        kind = type(event)
        text = _FORMATS[kind](self, event) if kind in _FORMATS else self._fields(event)
        return f"{kind.__name__:<{WIDTH}} {text}".rstrip()

    def command(self, command: Command) -> str:
        """`> CompleteJob job(work) variables={…}`."""
        return f"> {type(command).__name__} {self._fields(command)}".rstrip()

    def rejection(self, rejection: Rejection) -> str:
        """`! NOT_FOUND Expected to …`."""
        return f"! {rejection.code} {one_line(rejection.reason)}"

    def name(self, key: int | None) -> str:
        """The name of a key in this trace."""
        if key is None:
            return "-"
        return self._names.get(key) or f"#{key & ((1 << PARTITION_SHIFT) - 1)}"

    def learn(self, key: int, name: str) -> None:
        """Name the row with a key, unless the trace has a name for it. Another row may have the same name."""
        if key not in self._names:
            self._names[key] = self._unique(name)

    def _learn(self, event: Event) -> None:
        naming = _NAMES.get(type(event))
        if naming is not None:
            self.learn(*naming(self, event))

    def _unique(self, name: str) -> str:
        count = self._seen[name] = self._seen.get(name, 0) + 1
        return name if count == 1 else f"{name}~{count}"

    def _fields(self, record: msgspec.Struct) -> str:
        """All fields that differ from their defaults, with names for keys."""
        shown = []
        for field in _fields_of(type(record)):
            value = getattr(record, field.name)
            if value == _default(field):
                continue
            if field.name in KEY_FIELDS and isinstance(value, int):
                shown.append(self.name(value) if field.name == "key" else f"{field.name}={self.name(value)}")
            else:
                shown.append(f"{field.name}={value if isinstance(value, str) else _json(value)}")
        return one_line(" ".join(shown))

    def places(self, arrow: str, places: Iterable[str]) -> str:
        """` <- a, b`; empty without places."""
        text = ", ".join(places)
        return f" {arrow} {text}" if text else ""


def one_line(text: str) -> str:
    """`text` with line breaks and other unprintable characters escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@cache
def _fields_of(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---- names

_NAMES: dict[type[Event], Callable[[Trace, Any], tuple[int, str]]] = {
    InstanceCreated: lambda _, e: (e.key, e.process_id),
    ElementActivating: lambda _, e: (e.key, e.element),
    ElementRestored: lambda _, e: (e.key, e.element),
    JobCreated: lambda trace, e: (e.key, f"{job_noun(e.listener_event)}({trace.name(e.element)})"),
    UserTaskCreated: lambda trace, e: (e.key, f"task({trace.name(e.element)})"),
    IncidentRaised: lambda trace, e: (e.key, f"incident({trace.name(e.element)})"),
    MessagePublished: lambda _, e: (e.key, f"message({e.name})"),
    SignalBroadcast: lambda _, e: (e.key, f"signal({e.name})"),
    ConditionalsEvaluated: lambda _, e: (e.key, "conditions"),
    DecisionEvaluated: lambda _, e: (e.key, f"evaluation({e.decisions[-1].id if e.decisions else ''})"),
    SubscriptionOpened: lambda trace, e: (e.key, f"wait({e.target})"),
    CompensationRegistered: lambda trace, e: (e.key, f"done({trace.name(e.element)})"),
    DeploymentCreated: lambda _, _e: (_e.key, "deployment"),
    DefinitionAdded: lambda _, e: (e.key, f"{e.process_id}:v{e.version}"),
    FormAdded: lambda _, e: (e.key, f"form({e.form_id}):v{e.version}"),
    GenericResourceAdded: lambda _, e: (e.key, f"resource({e.resource_id}):v{e.version}"),
    RequirementsAdded: lambda _, e: (e.key, f"decisions({e.requirements_id}):v{e.version}"),
    DecisionAdded: lambda _, e: (e.key, f"decision({e.decision_id}):v{e.version}"),
}


def job_noun(listener_event: str) -> str:
    """The word for a job in the names of traces."""
    return "job" if listener_event == "UNSPECIFIED" else "listener"


# ---- formats of frequent events; all others show their fields


def _activating(trace: Trace, event: ElementActivating) -> str:
    index = "" if event.index < 0 else f" [{event.index}]"
    occurred = "" if event.occurred is None else f" occurred {_json(event.occurred)}"
    consumed = trace.places("<-", event.consumed)
    return one_line(f"{trace.name(event.key)}{index} in {trace.name(event.scope)}{consumed}{occurred}")


def _restored(trace: Trace, event: ElementRestored) -> str:
    index = "" if event.index < 0 else f" [{event.index}]"
    variables = "".join(f" {name}={value}" for _, name, value in event.variables)
    place = f"{trace.name(event.key)}{index} in {trace.name(event.scope)}"
    return one_line(f"{place} as {trace.name(event.former)} {event.state}{variables}")


def _completed(trace: Trace, event: ElementCompleted) -> str:
    return one_line(f"{trace.name(event.key)}{trace.places('->', event.flows)}")


def _created(trace: Trace, event: InstanceCreated) -> str:
    called = "" if event.parent is None else f" by {trace.name(event.parent)}"
    named = "" if event.business_id is None else f" business_id={event.business_id}"
    return one_line(f"{trace.name(event.key)} v{event.version}{called}{named}")


def _migrated(trace: Trace, event: InstanceMigrated) -> str:
    moved = (f"{before}:{after}" for before, after in event.ids.items() if before != after)
    return one_line(f"{trace.name(event.key)} v{event.version} {' '.join(moved)}")


def _renamed(trace: Trace, event: ElementsRenamed) -> str:
    moved = (f"{before}:{after}" for before, after in event.ids.items())
    return one_line(f"{trace.name(event.key)} {'more' if event.last is not None else 'last'} {' '.join(moved)}")


def _modified(trace: Trace, event: InstanceModified) -> str:
    begin, end = trace.places("activate", event.activated), trace.places("terminate", map(trace.name, event.terminated))
    return one_line(f"{trace.name(event.key)}{begin}{end}")


def _variable(trace: Trace, event: VariableSet) -> str:
    return one_line(f"{trace.name(event.scope)}.{event.name} = {event.value}")


def _deferred(trace: Trace, event: WorkDeferred | WorkResumed) -> str:
    return one_line(f"{trace.name(event.root)} {_items(trace, event.items)}")


def _items(trace: Trace, items: Items) -> str:
    return " ".join(
        f"{trace.name(key)}:{stage}"
        + (f"({_argument(trace, stage, argument)})" if argument and stage not in PAGES else "")
        for key, stage, argument in items
    )


def _argument(trace: Trace, stage: str, argument: Any) -> Any:
    return trace.name(argument) if stage in (RESUME_WAITS, RESCHEDULE, AWAIT_MESSAGE) else argument


def _suspended(trace: Trace, event: WorkSuspended | InstanceResumed) -> str:
    about = event.instance if isinstance(event, WorkSuspended) else event.key
    return one_line(f"{trace.name(about)} {_items(trace, event.items)}")


def _evaluation(trace: Trace, event: DecisionEvaluated) -> str:
    by = "" if event.element is None else f" by {trace.name(event.element)}"
    results = " ".join(f"{each.id}={each.result}" for each in event.decisions)
    failure = "" if event.failure is None else f" failed: {event.failure}"
    return one_line(f"{trace.name(event.key)}{by} {results}{failure}")


def _compensation(trace: Trace, event: CompensationStarted) -> str:
    thrower = "" if event.thrower is None else f" for {trace.name(event.thrower)}"
    of = trace.places("of", map(trace.name, (*event.scopes, *event.inside)))
    only = "" if event.only is None else f" only {event.only}"
    return one_line(f"{trace.name(event.key)} by {trace.name(event.element)}{of}{only}{thrower}")


_FORMATS: dict[type[Event], Callable[[Trace, Any], str]] = {
    InstanceCreated: _created,
    InstanceModified: _modified,
    ElementActivating: _activating,
    ElementRestored: _restored,
    ElementCompleted: _completed,
    InstanceMigrated: _migrated,
    ElementsRenamed: _renamed,
    VariableSet: _variable,
    CompensationStarted: _compensation,
    DecisionEvaluated: _evaluation,
    WorkDeferred: _deferred,
    WorkResumed: _deferred,
    WorkSuspended: _suspended,
    InstanceResumed: _suspended,
}
