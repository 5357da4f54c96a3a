"""Process instances, their elements, variables, loops and incidents: commands and events."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from vivero.engine.core.records.base import Command, Event, Variables


class CreateInstance(Command, frozen=True):
    """Start a process: by `definition_key`, or by `process_id` and `version` (-1: the latest) or `version_tag`.

    With `start_elements` (ids) it begins before each of these, instead of at its none start event. When one of
    `terminate_after` (ids) has ended, the instance is terminated.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE_CREATION:CREATE"
    process_id: str | None = None
    definition_key: int | None = None
    version: int = -1
    variables: Variables = {}
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    awaited: bool = False
    start_elements: tuple[str, ...] = ()
    terminate_after: tuple[str, ...] = ()
    version_tag: str | None = None


class CancelInstance(Command, frozen=True):
    intent: ClassVar[str] = "PROCESS_INSTANCE:CANCEL"
    key: int


class ContinueWork(Command, frozen=True):
    """Internal: the next quantum of a tree's deferred work."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:CONTINUE"
    key: int


class ResolveIncident(Command, frozen=True):
    intent: ClassVar[str] = "INCIDENT:RESOLVE"
    key: int


class SetVariables(Command, frozen=True):
    """Set variables seen from an element instance: in its own scope (`local`), or merged upwards."""

    intent: ClassVar[str] = "VARIABLE_DOCUMENT:UPDATE"
    key: int
    variables: Variables
    local: bool = False


class InstanceCreated(Event, frozen=True):
    """A process instance, ACTIVATING. `parent` is the call activity's key, None for a root.

    `start`: the start event that has happened, and the variables (JSON text) that it brings; None: the none start
    event. `start_lock`: the correlation key of the message that has started it. `begin`: as of an element.
    `terminate_after`: the elements (ids) whose end is the end of the instance.
    """

    key: int
    definition_key: int
    process_id: str
    version: int
    version_tag: str | None
    name: str | None
    tenant: str
    business_id: str | None
    tags: tuple[str, ...]
    parent: int | None = None
    start: tuple[str, dict[str, str]] | None = None
    start_lock: str | None = None
    begin: tuple[str, ...] = ()
    terminate_after: tuple[str, ...] = ()


class ElementActivating(Event, frozen=True):
    """A token entered `element` in `scope`; it took one token from each of `consumed`.

    `index`: of an inner instance of a loop. `occurred`: of an event that has already happened, the variables it brings.
    `begin`: of a scope, the elements below it that it begins with, instead of its start event.
    """

    key: int
    scope: int
    element: str
    type: str
    consumed: tuple[str, ...] = ()
    index: int = -1
    name: str | None = None
    occurred: dict[str, str] | None = None
    begin: tuple[str, ...] = ()


class ElementActivated(Event, frozen=True):
    key: int


class ElementCompleting(Event, frozen=True):
    key: int


class ElementCompleted(Event, frozen=True):
    """The element ended; one token was put on each of `flows`."""

    key: int
    flows: tuple[str, ...] = ()


class ElementTerminating(Event, frozen=True):
    """The element is to end without completing; then comes `then`. `request`: the command to be answered at the end."""

    key: int
    then: tuple[Any, ...] | None = None
    request: int | None = None


class ElementTerminated(Event, frozen=True):
    key: int


class ScopeInterrupted(Event, frozen=True):
    """The scope stays active but takes no more arrivals; when it is empty, `then` happens: ("complete",), …"""

    scope: int
    then: tuple[Any, ...]


class ScopeEmptied(Event, frozen=True):
    """What an interruption had to end has ended; what it was for comes now."""

    scope: int


class EventTriggered(Event, frozen=True):
    """Something that `element` catches has happened, at its boundary or event sub-process `target`."""

    element: int
    target: str


class LoopStarted(Event, frozen=True):
    """The collection of a multi-instance activity, evaluated once; each item is JSON text.

    With `variable` (its scope and name) the items are what its value is now: a list in compact JSON, without numbers
    that have a fraction. Events that have just said so much are not made to say it twice.
    """

    body: int
    items: tuple[str, ...]
    paged: bool = False
    """It is so long that what belongs to it is loaded in pages."""
    variable: tuple[int, str] | None = None


class ItemCollected(Event, frozen=True):
    """The result (JSON text) of an inner instance."""

    body: int
    index: int
    value: str


class LoopResultSet(Event, frozen=True):
    """The results of a loop, in the order of its items and null where there is none, become a variable."""

    key: int
    body: int
    scope: int
    name: str


class WorkDeferred(Event, frozen=True):
    """The quantum is used up: these work items of the tree (key, stage, argument) go on in a later command."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class WorkResumed(Event, frozen=True):
    """The deferred work of a tree goes on, with these items, which were put off last."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class VariableSet(Event, frozen=True):
    """`value` is JSON text; `key` is the variable's own, the old one again when it existed."""

    key: int
    scope: int
    name: str
    value: str


class IncidentRaised(Event, frozen=True):
    """`stage` and `argument` name the work item that resolving runs again ("" when a job is released instead)."""

    key: int
    element: int
    stage: str
    type: str
    message: str
    job: int | None = None
    argument: Any = 0


class IncidentResolved(Event, frozen=True):
    key: int


COMMAND_STAGE = "command"
"""The stage of an incident that parks a whole command, because handling it raised."""

DEADLOCK_STAGE = "deadlock"
"""The stage of the incident of a scope that can never go on: resolving it makes the scope settle again."""


class InstanceReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What creating an instance answers."""

    process_instance_key: int
    process_definition_key: int
    process_definition_id: str
    process_definition_version: int
    tenant_id: str
    tags: tuple[str, ...]
    business_id: str | None
