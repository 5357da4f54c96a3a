"""Business ids that process instances get while they run: the command and its event."""

from __future__ import annotations

from typing import ClassVar

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, WhileSuspended


class AssignBusinessId(Command, frozen=True):
    """Give a business id to a running root process instance that has none.

    None takes the assignment back. Only an undo sends it, on the condition that nothing else has happened since.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE_BUSINESS_ID:ASSIGN"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    business_id: str | None


class BusinessIdAssigned(Event, frozen=True):
    """The process instance has this business id; None: it has none any more. Rows of before keep none."""

    key: int
    business_id: str | None
