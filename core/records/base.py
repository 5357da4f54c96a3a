"""The base classes of commands and events."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

import msgspec

from vivero.core.partitions.homes import Home
from vivero.core.partitions.routes import Routes

DEFAULT_TENANT = "<default>"


class Sender(Enum):
    """The kind of sender of a command."""

    CLIENT = "CLIENT"
    """A request. The command sees what the tenants of its sender have, and its outcome answers the request. An element
    may send those commands that have a `thrower`, too."""
    TREE = "TREE"
    """A follow-up of another command."""
    NODE = "NODE"
    """A task of a node, such as the timer task."""


class WhileSuspended(Enum):
    """The fate of a command about a suspended process instance. Elements that are terminating always get it."""

    EXECUTE = "EXECUTE"
    """Its handler decides. The work that follows in the instance waits for the resumption."""
    REFUSE = "REFUSE"
    """It is rejected: somebody outside of the engine sent it."""
    WAIT = "WAIT"
    """The engine sent it. `core.commands.suspension.WAITING` says how it waits for the resumption."""


class Command(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, kw_only=True):
    """A request to change something. All facts of a command stand at its class; `core.dispatch` has its handler."""

    intent: ClassVar[str]
    """The name in the log, FAMILY:VERB."""
    home: ClassVar[Home]
    """The function of `core.partitions.homes` that gives the partition which handles it."""
    sent_by: ClassVar[Sender]
    format: ClassVar[int] = 1
    """The number of its shape: a change of meaning (not a new field with a default) needs the next one."""
    changes_tree: ClassVar[bool] = False
    """A client changes one tree with it, so it can depend on the version of the tree (If-Match)."""
    reports_job: ClassVar[bool] = False
    """A worker reports on its job with it."""
    has_waiter: ClassVar[bool] = False
    """An instance or a worker waits for it. The core rejects one that cannot be processed, so that nothing waits for
    ever, and no worker gets a job again whose result is rejected each time. Its needs consist of keys alone, so that
    they can always be loaded."""
    prompt: ClassVar[bool] = False
    """A follow-up that runs even if the quantum is used up. Otherwise the tree could continue, and throw a message or
    wait again, before its message channel knows that it waits, or that a message comes back. It takes little time."""
    while_suspended: ClassVar[WhileSuspended | None] = None
    """Its fate while its process instance is suspended; None: its key is not that of a part of an instance.
    A command whose home is `homes.of_key` must say it."""
    creates_work: ClassVar[bool] = False
    """Others are admitted before it, while there is capacity."""

    attempt: int = 0
    """The number of times that the command had to wait, behind deferred work of its tree."""
    held: bool = False
    """Whether a migration in pages has held it. It goes before commands that came later (`core.state.holds`)."""
    by_program: bool = False
    """Whether a part of the program sends it, and no client that would repeat it: the report of a connector, or the
    item of a batch. Each part bounds how many it sends, so that all of them may wait for a held tree."""

    def home_in(self, tenant: str, routes: Routes, here: int) -> int:
        """The partition that handles the command; `here` for one that is handled where it is."""
        return type(self).home(self, tenant, routes) or here

    def was_put_off(self) -> bool:
        """Whether the command is handled again, because it had to wait. Its outcome answers its request."""
        return self.held or bool(self.attempt)

    def answers_its_request(self) -> bool:
        """Whether the command is a client's. If it was forwarded, its outcome answers the request that it names."""
        return self.sent_by is Sender.CLIENT and getattr(self, "thrower", None) is None


Variables = dict[str, msgspec.Raw]


class Event(msgspec.Struct, frozen=True, array_like=True, tag_field="event", tag=True, gc=False):
    """A fact that a command produced. Appliers turn it into state without reading anything else."""
