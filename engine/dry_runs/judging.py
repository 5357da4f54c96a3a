"""Verdicts on the commands of many process instances: the trees are copied one by one, and tried some at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from vivero.core.needs import Need
from vivero.core.records.base import Command
from vivero.engine.dry_runs.copies import Copy, Verdict
from vivero.engine.dry_runs.needs import ATTEMPTS, TOO_DEEP, declared, missing
from vivero.storage.state.snapshots import TooLarge

MOST_BYTES = 2_000_000
"""Copies travel to a compute process as soon as their trees have so many bytes together."""

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
    """The commands without a verdict so far. A command that lacks something is tried again with it."""

    def __init__(self, attempts: Sequence[Attempt], read: ReadTree, judge: Judge) -> None:
        self._attempts, self._read, self._judge = attempts, read, judge
        self._verdicts: dict[int, Verdict] = {}
        self._needs = list(dict.fromkeys(need for one in attempts for need in declared(one.command, one.tenant)))
        self._files: Files = {}

    async def verdicts(self) -> list[Verdict]:
        """The verdicts, in the order of the commands."""
        numbers = range(len(self._attempts))
        for _ in range(ATTEMPTS):
            left = [number for number in numbers if number not in self._verdicts]
            if not left:
                break
            await self._round(left)
        return [self._verdicts.get(number, Verdict(untried=TOO_DEEP)) for number in numbers]

    async def _round(self, left: Sequence[int]) -> None:
        known, copies = list(self._needs), dict[int, Copy]()
        for number in left:
            try:
                copies[number] = await self._read(self._attempts[number].key, known, self._files)
            except TooLarge as error:
                self._verdicts[number] = Verdict(untried=str(error))
            if sum(len(copy.snapshot) for copy in copies.values()) >= MOST_BYTES:
                await self._try(copies, known)
                copies.clear()
        if copies:
            await self._try(copies, known)

    async def _try(self, copies: dict[int, Copy], known: Sequence[Need]) -> None:
        found = await self._judge([(copy, self._attempts[number]) for number, copy in copies.items()])
        for number, verdict in zip(copies, found, strict=True):
            if verdict.lacks is None:
                self._verdicts[number] = verdict
            elif (text := missing(verdict.lacks, known)) is not None:
                self._verdicts[number] = Verdict(untried=text)
            elif verdict.lacks not in self._needs:
                self._needs.append(verdict.lacks)
