"""Changes that are conditional on the version of an instance tree (If-Match): the command."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Sender, WhileSuspended


class ChangeIfMatch(Command, frozen=True):
    """Run a client's command if the tree of its subject has one of these versions. `key` is the subject's key.

    `change` is the intent of the command, `payload` its JSON. `untaken`: jobs that no worker may have, or have had.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:CHANGE_IF_MATCH"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.EXECUTE

    key: int
    versions: tuple[int, ...]
    change: str
    payload: msgspec.Raw
    untaken: tuple[int, ...] = ()
