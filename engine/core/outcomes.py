"""What goes into the processing of a command, and what comes out of it besides the changed rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from vivero.engine.core.records.base import Command, Event
from vivero.engine.core.records.effects import Rejection
from vivero.engine.core.state.instance_tree import Variable


class Entry(msgspec.Struct):
    """A row of the command log. `request`: the position that it goes back to, when that is another one."""

    position: int
    tenant: str
    command: Command
    request: int | None = None


class Handled(msgspec.Struct, eq=False):
    """What came of a command or of one of its follow-ups: a row of the event log."""

    seq: int
    root: int | None
    request: int | None
    """Set when this row goes back to another position than its own."""
    events: list[Event]
    rejection: Rejection | None = None
    answered: bool = False
    response: msgspec.Struct | None = None


@dataclass(slots=True)
class Spilled:
    """A follow-up for later, to be written to the inbox."""

    command: Command
    tenant: str
    request: int


class Ended(NamedTuple):
    """The root of an instance tree that ended: its key, its last state, and its variables as it left them."""

    key: int
    state: str
    variables: Mapping[str, Variable]


@dataclass(slots=True)
class Notices:
    """What others may want to know once the batch is committed."""

    spilled: list[Spilled] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    available: dict[tuple[str, str], int] = field(default_factory=dict)
    """Jobs that became available, by (type, tenant)."""
    timers: dict[int, tuple[int, str] | None] = field(default_factory=dict)
    """Timers that were touched: due date (epoch ms) and tenant, None of one that is no longer pending."""
    poisoned: list[tuple[int, BaseException]] = field(default_factory=list)
    """Positions whose handling raised, with the bug."""
