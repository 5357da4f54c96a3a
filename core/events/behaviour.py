"""The behaviour of event definitions: functions that the core calls. `events.table` lists them for each definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from vivero.core.bpmn.model import Node
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects
from vivero.core.state.instance_tree import Element, Subscription
from vivero.core.view import View


class InvalidStart(Exception):
    """A start event is invalid, or needs variables, which do not exist yet. The message says which event, and why."""


VariableChange = tuple[Element, str, bool]
"""(scope, name, whether the variable is new)"""


class Wait(NamedTuple):
    """An element begins to wait for the event of `target`."""

    element: Element
    """The waiting element; timers and subscriptions belong to its row."""
    target: Node
    """The boundary event, the event sub-process, or the element's own node."""
    type: str
    """BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE."""
    interrupting: bool
    """Whether the wait ends when the event occurs. Always true for the element's own events."""


class LatestVersion(NamedTuple):
    """A version of a process that becomes the latest, so that its start events are opened."""

    definition: int
    process_id: str
    restored: bool
    """Whether the version becomes the latest again, because a newer one was deleted."""


class EventBehaviour(NamedTuple):
    """The functions of an event's module. They get event definitions of the module's own type."""

    subscribe: Callable[[Wait, Any, View], Effects] | None = None
    """Subscribe to it. None: no subscription is needed, because throwing it searches for the catcher."""
    throw: Callable[[Element, Any, View], Effects] | None = None
    """Throw it from a throw event, an end event or a send task. None: the element completes at once."""
    follow: Callable[[Element, Any, View], Effects] | None = None
    """The effects after the event that throws it has completed."""
    start: Callable[[str, Any], StartMetadata] | None = None
    """The metadata of a process's start event, given its id, for the catalogue. None: it starts no process.

    Raises InvalidStart.
    """
    start_kinds: tuple[str, ...] = ()
    """The values of `kind` in the metadata that `start` returns."""
    open_start: Callable[[StartMetadata, LatestVersion, View], Effects] | None = None
    """Subscribe to the event that starts the process."""
    affected: Callable[[Sequence[VariableChange], View], Iterable[Subscription]] | None = None
    """The open subscriptions to `check` after changes of variables, in the order of evaluation."""
    check: Callable[[Subscription, Any, View], Effects] | None = None
    """Decide whether the awaited event of a subscription has occurred. Called after the effect `Check`."""
    prevents_paging: bool = False
    """Whether its subscriptions must all be in memory with their instance. A loop around it is never paged."""
    has_local_variables: bool = False
    """Whether its variables become local variables of the boundary event that catches it."""
