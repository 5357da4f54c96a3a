"""Migration of process instances to another definition: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, WhileSuspended
from vivero.core.records.effects import Violation

CHECK_PAGE = "check page"
"""The stage in which a large migration checks the next instances or elements. Its argument is a `Deciding`, as builtin
types."""
MOVE_PAGE = "move page"
"""The stage in which the next instances of a decided migration get their definition. It has the same argument."""
RENAME_PAGE = "rename page"
"""The stage in which a page of the elements of a migrated instance gets their ids in the target. Its argument is a
`Renaming`, as builtin types."""


class Renaming(msgspec.Struct, frozen=True, gc=False):
    """The rest of a migration: elements with keys above `after` have the ids of the source, whose key is `former`.

    `ids`, `labels`, `interrupting` and `first_key` as in `ElementsRenamed`. The last page answers `request`. `waits`:
    how many waits of one element the pages close and open; none: this has happened. `former_process`: the process id
    before.
    """

    former: int
    ids: dict[str, str]
    labels: dict[str, str | None]
    interrupting: dict[str, bool]
    first_key: int
    request: int | None
    after: int = 0
    waits: int = 0
    former_process: str = ""


class CalledMigration(msgspec.Struct, frozen=True, gc=False):
    """A migration of the called instances of a definition, `source`, to `definition_key`. `mappings` as below.

    `only`: the keys of the instances that are meant; all of the definition, if it is empty.
    """

    source: int
    definition_key: int
    mappings: tuple[tuple[str, str], ...]
    only: tuple[int, ...] = ()


class MigrateInstance(Command, frozen=True):
    """Let a running instance continue by `definition_key`. `mappings`: (source, target) ids of elements and flows."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:MIGRATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    definition_key: int
    mappings: tuple[tuple[str, str], ...]
    unless_there: bool = False
    """Leave an instance that has this definition already as it is. Items of batches do."""
    called: tuple[CalledMigration, ...] = ()
    """The called instances that move, too, at any depth, each definition once, or each instance. All others stay."""


class Deciding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The progress of a large migration: of its decision first, and then through the instances that it moves.

    Instances with keys below `instance` are done, and of this one the elements with keys up to `after`; None: it has
    not been looked at. `waits`: how many waits of one element open and close, `changes`: of all instances so far.
    `problems`: each with its number, those of `events` alone, or those of mappings and elements.
    """

    command: MigrateInstance
    request: int | None
    instance: int = 0
    after: int | None = None
    waits: int = 1
    changes: int = 0
    problems: tuple[tuple[Violation, int], ...] = ()
    of_events: bool = True


class MoveSubscription(Command, frozen=True):
    """Internal, to a message channel: the instance that waits was migrated. `key` is the key of its subscription."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:MIGRATE"
    home = homes.of_channel
    sent_by = Sender.TREE
    prompt = True

    key: int
    tenant: str
    correlation_key: str
    process_id: str
    interrupting: bool


class InstanceMigrated(Event, frozen=True):
    """The instance continues by another definition.

    `ids`: source id → target id of elements and flows. `labels`: target id → name of the live elements.
    `interrupting`: target id → whether the waits for it that stay end when the event occurs.
    """

    key: int
    definition_key: int
    process_id: str
    version: int
    version_tag: str | None
    name: str | None
    ids: dict[str, str]
    labels: dict[str, str | None] = {}
    interrupting: dict[str, bool] = {}
    former: tuple[int, str] | None = None
    """Key and process id of the definition before; None in events of older versions."""
    paged: bool = False
    """Its elements follow in pages, by `ElementsRenamed`, and nothing else happens in the tree meanwhile."""
    held: bool = False
    """The tree is held for the migration, so that no row of it has ended in this batch."""


class ElementsRenamed(Event, frozen=True):
    """Elements of the migrated instance `key`, those with keys above `after` up to `last`, continue by its definition.

    `former`: the key of the definition before. `ids`, `labels`, `interrupting` as in `InstanceMigrated`. The migration
    has opened the waits with keys from `first_key` on. `last` is None for the last page.
    """

    key: int
    former: int
    after: int
    last: int | None
    ids: dict[str, str]
    labels: dict[str, str | None]
    interrupting: dict[str, bool]
    first_key: int


class ChannelSubscriptionMoved(Event, frozen=True):
    """A subscription of a message channel belongs to another process from now on."""

    key: int
    tenant: str
    correlation_key: str
    process_id: str
    interrupting: bool
