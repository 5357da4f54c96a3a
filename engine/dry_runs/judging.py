"""Verdicts on the commands of many process instances: the trees are copied one by one, and tried some at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from vivero.core.needs import Need
from vivero.core.records.base import Command
from vivero.engine.dry_runs.copies import Copy, Verdict
from vivero.engine.dry_runs.needs import ATTEMPTS, TOO_DEEP, declared, leased, missing
from vivero.storage.state.snapshots import TooLarge

MOST_BYTES = 2_000_000
"""Copies travel to a compute process as soon as their trees have so many bytes together."""
MOST_KEPT = 100
"""Needs that later portions ask for at once. With more of them, the next portion begins anew."""

Files = dict[str, bytes | None]
"""Files that copies share, by SHA-256. They never change."""


class Attempt(NamedTuple):
    """A command to try, about the process instance with a key. `tenant`: that of its sender."""

    command: Command
    key: int
    tenant: str


ReadTree = Callable[[int, list[Need], Files], Awaitable[Copy]]
"""Copies the tree of an instance, with these needs. Raises TooLarge."""
Judge = Callable[[list[tuple[Copy, Attempt]]], Awaitable[list[Verdict]]]
"""Tries commands on copies, and returns the verdicts in their order."""


class Judging:
    """Judges commands in portions.

    A command that lacks something is tried again with it. The commands of later portions get it at once.
    """

    def __init__(self, read: ReadTree, judge: Judge) -> None:
        self._read, self._judge = read, judge
        self._needs: dict[Need, None] = {}

    async def verdicts(self, attempts: Sequence[Attempt]) -> list[Verdict]:
        """The verdicts on the commands of a portion, in their order. Each of them is tried on a copy of its own.

        Raises:
            NotComputed: no compute process can do it now, or it takes too much.
        """
        if len(self._needs) > MOST_KEPT:
            self._needs.clear()
        self._needs |= dict.fromkeys(need for one in attempts for need in declared(one.command, one.tenant))
        reasons = {number: leased(one.command, one.tenant) for number, one in enumerate(attempts)}
        verdicts = {number: Verdict(untried=reason) for number, reason in reasons.items() if reason is not None}
        files: Files = {}
        for _ in range(ATTEMPTS):
            left = {number: one for number, one in enumerate(attempts) if number not in verdicts}
            if not left:
                break
            await self._round(left, verdicts, files)
        return [verdicts.get(number, Verdict(untried=TOO_DEEP)) for number in range(len(attempts))]

    async def _round(self, left: Mapping[int, Attempt], verdicts: dict[int, Verdict], files: Files) -> None:
        """Try these commands once, and add the verdicts that are found."""
        known, copies = list(self._needs), dict[int, tuple[Copy, Attempt]]()
        for number, attempt in left.items():
            try:
                copies[number] = await self._read(attempt.key, known, files), attempt
            except TooLarge as error:
                verdicts[number] = Verdict(untried=str(error))
            if sum(len(copy.snapshot) for copy, _ in copies.values()) >= MOST_BYTES:
                verdicts |= await self._try(copies, known)
                copies.clear()
        if copies:
            verdicts |= await self._try(copies, known)

    async def _try(self, copies: Mapping[int, tuple[Copy, Attempt]], known: Sequence[Need]) -> dict[int, Verdict]:
        """The verdicts that are found. The others lack something that copies do not have so far."""
        found: dict[int, Verdict] = {}
        for number, verdict in zip(copies, await self._judge(list(copies.values())), strict=True):
            if verdict.lacks is None:
                found[number] = verdict
            elif (text := missing(verdict.lacks, known)) is not None:
                found[number] = Verdict(untried=text)
            else:
                self._needs[verdict.lacks] = None
        return found
