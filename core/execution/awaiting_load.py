"""Follow-ups that wait until the state has the rows that they need."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from itertools import takewhile

from vivero.core.dispatch import COMMANDS
from vivero.core.execution.outcomes import FollowUp
from vivero.core.needs import Need


@dataclass(slots=True)
class AwaitingLoad:
    """Follow-ups of a command that continue in this batch once the needs of the first one are loaded."""

    commands: list[FollowUp]
    tenant: str
    request: int
    needs: list[Need]

    def loaded(self, left_out: Set[Need]) -> int:
        """The number of first commands that have all that they need."""
        wanted = (COMMANDS[type(one.command)].needs(one.command, self.tenant) for one in self.commands)
        return len(self.commands) if not left_out else len(list(takewhile(left_out.isdisjoint, wanted)))
