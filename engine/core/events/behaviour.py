"""What the core asks an event definition to do. `events.table` lists the answers; an empty answer means: nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from vivero.engine.bpmn.model import Node
from vivero.engine.core.records.catalogue import StartMetadata
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.state.instance_tree import Element, Subscription
from vivero.engine.core.view import View


class InvalidStart(Exception):
    """What a start event waits for cannot be known without variables, or is invalid; the message says which and why."""


VariableChange = tuple[Element, str, bool]
"""Scope, name, and whether the variable is new."""


class Wait(NamedTuple):
    """Where something is awaited: the event definition of `target` decides what."""

    element: Element
    """It waits; the wait hangs on its row."""
    target: Node
    """The boundary event, the event sub-process, or the node itself, that happens."""
    type: str
    """BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE."""
    interrupting: bool
    """Whether the wait is over once it has happened: what an element waits for itself happens once."""


class Start(NamedTuple):
    """The version of a process whose start events are opened, because it is the latest from now on."""

    definition: int
    process_id: str
    restored: bool
    """Whether it was the latest before."""


class EventBehaviour(NamedTuple):
    """The functions of an event's module. The event definition that they get is of the module's own type."""

    subscribe: Callable[[Wait, Any, View], Effects] | None = None
    """Wait for it. None: it is never awaited by a row; who throws it looks for who catches it."""
    throw: Callable[[Element, Any, View], Effects] | None = None
    """Throw it from a throwing or end event, or a send task. None: that completes at once."""
    follow: Callable[[Element, Any, View], Effects] | None = None
    """What follows once the event that throws it has completed."""
    start: Callable[[str, Any], StartMetadata] | None = None
    """What the catalogue keeps of a start event (its id) of a process. None: no process starts with it.

    Raises InvalidStart.
    """
    start_kinds: tuple[str, ...] = ()
    """Of what `start` makes."""
    open_start: Callable[[StartMetadata, Start, View], Effects] | None = None
    """Wait for what starts the process."""
    affected: Callable[[Sequence[VariableChange], View], Iterable[Subscription]] | None = None
    """The open subscriptions whose `check` the changes of variables may change, in the order of their turns."""
    check: Callable[[Subscription, Any, View], Effects] | None = None
    """What happens if what a subscription waits for has happened: asked after a `Check`."""
    prevents_paging: bool = False
    """Whether all its subscriptions must be in memory with their instance: a loop around it has no pages."""
    has_local_variables: bool = False
    """Whether what it brings stays at a boundary event."""
