"""Process instances, their elements, variables, loops and incidents: commands and events."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended


class CreateInstance(Command, frozen=True):
    """Start a process by `definition_key`, or by `process_id` and `version` (-1: the latest) or `version_tag`.

    With `start_elements` (ids) it starts at each of these instead of at its none start event. The instance is
    terminated after one of `terminate_after` (ids) has ended.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE_CREATION:CREATE"
    home = homes.anywhere
    sent_by = Sender.CLIENT
    creates_work = True

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
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.EXECUTE
    changes_tree = True

    key: int


class ContinueWork(Command, frozen=True):
    """Internal: run the next quantum of the deferred work of an instance tree."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:CONTINUE"
    home = homes.of_key
    sent_by = Sender.NODE
    while_suspended = WhileSuspended.EXECUTE
    has_waiter = True

    key: int


class EndHold(Command, frozen=True):
    """Internal: all commands that the hold of a migration has released come before this one in the log."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:END_HOLD"
    home = homes.of_key
    sent_by = Sender.NODE
    while_suspended = WhileSuspended.EXECUTE
    has_waiter = True

    key: int


class ResolveIncident(Command, frozen=True):
    """Run the failed step again. `retries`: what a job without retries gets; 0: such an incident is not resolved."""

    intent: ClassVar[str] = "INCIDENT:RESOLVE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    retries: int = 0


class SetVariables(Command, frozen=True):
    """Set variables in the scope of an element instance (`local`), or merge them upwards from it."""

    intent: ClassVar[str] = "VARIABLE_DOCUMENT:UPDATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.EXECUTE
    changes_tree = True

    key: int
    variables: Variables
    local: bool = False


class InstanceCreated(Event, frozen=True):
    """A process instance is ACTIVATING. `parent` is the key of the call activity, None for a root.

    `start`: the start event that has occurred, with its variables (JSON text); None for the none start event.
    `start_lock`: the correlation key of the message that started it. `begin`: as in ElementActivating.
    `terminate_after`: elements (ids) after whose end the instance is terminated.
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


class DueDateSet(Event, frozen=True):
    """The process instance is late after this moment (epoch ms), by its model."""

    key: int
    due_at: int


class ElementActivating(Event, frozen=True):
    """A token entered `element` in `scope`, and one token of each of `consumed` was consumed.

    `index`: for an inner instance of a loop. `occurred`: for an event that has already occurred, its variables.
    `begin`: for a scope, the elements inside at which it starts instead of its start event.
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
    """The element completed and put one token on each of `flows`."""

    key: int
    flows: tuple[str, ...] = ()


class ElementTerminating(Event, frozen=True):
    """The element begins to terminate; `then` follows. `request`: the position of the command to answer at the end."""

    key: int
    then: tuple[Any, ...] | None = None
    request: int | None = None


class ElementTerminated(Event, frozen=True):
    key: int


class ScopeInterrupted(Event, frozen=True):
    """The scope stays active but takes no more tokens. When it is empty, `then` follows: ("complete",), …"""

    scope: int
    then: tuple[Any, ...]


class ScopeEmptied(Event, frozen=True):
    """Everything in an interrupted scope has ended. The interrupting event follows now."""

    scope: int


class ScopeResumed(Event, frozen=True):
    """Everything in an interrupted scope has ended, and the scope goes on."""

    scope: int


class EventTriggered(Event, frozen=True):
    """`element` caught an event with its boundary event or event sub-process `target`."""

    element: int
    target: str


class EventDefinitionOccurred(Event, frozen=True):
    """One of the definitions that `element` awaits together at `target` has occurred, and others have not yet.

    The event keeps `variables` (JSON text) until all of them have occurred."""

    element: int
    target: str
    variables: dict[str, str]


class LoopStarted(Event, frozen=True):
    """The collection of a multi-instance activity, evaluated once. Each item is JSON text.

    With `variable` (scope and name) the items are the present value of this variable: a list in compact JSON without
    fractional numbers. The log then does not contain the items twice.
    """

    body: int
    items: tuple[str, ...]
    paged: bool = False
    """Whether the loop is so long that it is loaded in pages."""
    variable: tuple[int, str] | None = None


class ItemCollected(Event, frozen=True):
    """The result (JSON text) of an inner instance."""

    body: int
    index: int
    value: str


class LoopResultSet(Event, frozen=True):
    """A variable gets the results of a loop, in the order of the items, with null for missing ones."""

    key: int
    body: int
    scope: int
    name: str


class WorkDeferred(Event, frozen=True):
    """The quantum is used up. A later command continues with these work items (key, stage, argument) of the tree."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class WorkResumed(Event, frozen=True):
    """A quantum takes up these deferred items of the tree, which are the last ones deferred."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class VariableSet(Event, frozen=True):
    """`value` is JSON text. `key` is the key of the variable; an update keeps it."""

    key: int
    scope: int
    name: str
    value: str


class IncidentRaised(Event, frozen=True):
    """Resolving runs the work item of `stage` and `argument` again. An empty `stage` releases the job instead."""

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
"""The stage of an incident that quarantines a whole command, because handling it raised."""

DEADLOCK_STAGE = "deadlock"
"""The stage of the incident of a scope that can never continue. Resolving it settles the scope again."""


class InstanceReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer of a creation."""

    process_instance_key: int
    process_definition_key: int
    process_definition_id: str
    process_definition_version: int
    tenant_id: str
    tags: tuple[str, ...]
    business_id: str | None
