"""The input and the output of handling a command, apart from the changed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import msgspec

from vivero.core.records.base import Command, Event
from vivero.core.records.codec import encode_command
from vivero.core.records.effects import Rejection


class CommandRecord(msgspec.Struct):
    """A row of the command log. `request` is the client's position that it follows from; None: its own.

    `tenant` of a command by key names the tenants that its sender may use (`tenants`).
    """

    position: int
    tenant: str
    command: Command
    request: int | None = None
    context: str | None = None
    """The trace context of the command, which its consequences carry on. The core cannot read it."""


class Handled(msgspec.Struct, eq=False):
    """The result of a command or of one of its follow-ups: a row of the event log."""

    seq: int
    root: int | None
    request: int | None
    """The client's position that this row follows from; None: its own."""
    events: list[Event]
    rejection: Rejection | None = None
    answered: bool = False
    response: msgspec.Struct | None = None
    forwarded: bool = False
    """Whether another partition handles the command."""


@dataclass(slots=True)
class InboxCommand:
    """A follow-up that is deferred to the inbox, or sent to another partition: `partition` will handle it."""

    command: Command
    tenant: str
    request: int | None
    """The client's position that it follows from; None: its own."""
    partition: int
    audit: str | None = None
    """The record for the audit log of a client's command that another partition handles."""
    context: str | None = None
    again: bool = False
    """Whether it is a client's command that has to wait."""
    held_by: int | None = None
    """The root of the tree whose hold keeps it in the inbox; None: it goes to the log."""
    _payload: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def encode(self) -> bytes:
        """The command for the inbox. The bytes are kept for the save."""
        if self._payload is None:
            self._payload = encode_command(self.command)
        return self._payload

    def take_payload(self) -> bytes:
        """The same for the save, after which nobody needs the bytes: a held command may be in memory for long."""
        payload, self._payload = self.encode(), None
        return payload


class FollowUp(msgspec.Struct, frozen=True, gc=False):
    """A follow-up, with the context of the command that it follows from."""

    command: Command
    context: str | None = None


class Contexts(Protocol):
    """Gives each command that is handled a context of its own. Only a program that traces has one."""

    def begin(self, command: Command, given: str | None) -> str | None:
        """The context of a command whose handling begins. `given` came with it."""

    def end(self, handled: Handled) -> None:
        """The command is handled."""

    def cancel(self) -> None:
        """The command was undone, and will be handled again."""


class LastVariable(NamedTuple):
    """A variable of an instance that ended. `value` is JSON."""

    key: int
    name: str
    value: str


class Ended(NamedTuple):
    """The root of an instance tree that ended: its key, its last state and its last variables.

    Observers hear of it after the commit, when nothing can be loaded any more. It holds plain data, and no rows.
    """

    key: int
    state: str
    variables: Sequence[LastVariable] | None
    """None: they are only in the database, because the instance was loaded to be ended."""


@dataclass(slots=True)
class Notices:
    """The facts that observers learn once the batch is committed."""

    to_inbox: list[InboxCommand] = field(default_factory=list)
    released: dict[int, int] = field(default_factory=dict)
    """Root of a tree → how many commands of earlier batches, the first ones, are no longer held in the inbox."""
    returned: dict[int, int] = field(default_factory=dict)
    """Root of a tree → how many commands of earlier batches, the first ones, have left the inbox: they were handled."""
    ended: list[Ended] = field(default_factory=list)
    available: dict[tuple[str, str], int] = field(default_factory=dict)
    """Numbers of jobs that became available, by type and tenant."""
    timers: dict[int, tuple[int, str] | None] = field(default_factory=dict)
    """Changed timers: due date (epoch ms) and tenant; None for a timer that is no longer pending."""
    jobs: dict[tuple[str, str], int] = field(default_factory=dict)
    """Numbers of jobs by (event, type), for example ("completed", "charge-card")."""
    incidents: dict[tuple[str, str], int] = field(default_factory=dict)
    """The same for incidents: "raised" or "resolved", and the type."""
    poisoned: list[tuple[int, BaseException]] = field(default_factory=list)
    """Positions whose handling raised, with the exception."""
