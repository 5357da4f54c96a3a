"""Dry runs of commands: the copy of a tree is read here, and a compute process tries the command on it.

The copy is one state of the database, which all statements of a transaction see. A command that needs more than the
tree gets another copy, of a later state, with all that earlier attempts have lacked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator

import trio

from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits
from vivero.core.execution.step import DEFAULT_LIMITS, StepLimits
from vivero.core.needs import Need, NeedKind
from vivero.core.partitions.keys import partition_of
from vivero.core.records.base import Command
from vivero.core.records.codec import encode_command
from vivero.core.snapshots.codec import encode
from vivero.core.state.catalogue import Catalogue, Definition
from vivero.core.state.state import State
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import Busy
from vivero.engine.compute.turns import WorkKind
from vivero.engine.dry_runs.copies import Answer, Copy, Question, Verdict, judge, try_out
from vivero.engine.dry_runs.judging import Attempt, Files, Judging
from vivero.engine.dry_runs.needs import ATTEMPTS, OF_CATALOGUE, TOO_DEEP, declared, missing
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import definitions, load
from vivero.storage.state.snapshots import ONE_MOMENT, read_live_tree

MOST_WAITING = 20
"""Dry runs that wait for another one to be read."""
ReadCopy = Callable[[Callable[[Connection, Tenants], Awaitable[Copy]]], Awaitable[Copy]]
"""Runs a query on a connection that shows the rows of the caller's tenants."""


class CannotTry(Exception):
    """The command needs something that a dry run does not have. The message names it."""


class DryRuns:
    """Tries commands of clients. One copy at a time is read, because that takes turns of the event loop."""

    def __init__(self, limits: StepLimits = DEFAULT_LIMITS, files: XmlLimits = LIMITS) -> None:
        self._limits, self._files = limits, files
        self._reading = trio.Semaphore(1)

    async def run(
        self, command: Command, key: int, tenant: str, read: ReadCopy, compute: ComputePool, patience_s: float
    ) -> Answer:
        """The answer for a command about the process instance with this key.

        Raises:
            TooLarge: the tree exceeds the limits of a snapshot.
            CannotTry: the command needs something that a dry run does not have.
            NotComputed: no compute process can do it now, or it takes too much.
        """
        question = self._question(Attempt(command, key, tenant))
        needs, files = list(declared(command, tenant)), Files()
        for _ in range(ATTEMPTS):
            copy = await self._copy(key, needs, read, files)
            if not copy.snapshot:  # the refusal takes no time
                return try_out(copy, question)
            work = WorkKind.DRY_RUNS, try_out, copy, question
            answer = await compute.call(*work, patience_s=patience_s)
            if answer.lacks is None:
                return answer
            if (text := missing(answer.lacks, needs)) is not None:
                raise CannotTry(text)
            needs.append(answer.lacks)
        raise CannotTry(TOO_DEEP)

    def judging(self, read: ReadCopy, compute: ComputePool, patience_s: float) -> Judging:
        """Judges commands about many process instances."""

        async def tree(key: int, needs: list[Need], files: Files) -> Copy:
            return await self._copy(key, needs, read, files)

        async def verdicts(copies: list[tuple[Copy, Attempt]]) -> list[Verdict]:
            questions = [(copy, self._question(attempt)) for copy, attempt in copies]
            return await compute.call(WorkKind.DRY_RUNS, judge, questions, patience_s=patience_s)

        return Judging(tree, verdicts)

    def _question(self, attempt: Attempt) -> Question:
        command, key, tenant = attempt
        return Question(command.intent, encode_command(command), tenant, key, self._limits, self._files)

    async def _copy(self, key: int, needs: Iterable[Need], read: ReadCopy, files: Files) -> Copy:
        waiting = self._reading.statistics().tasks_waiting
        if waiting >= MOST_WAITING:
            raise Busy(f"{waiting} dry runs wait already")
        async with self._reading:
            return await read(_reading(key, list(needs), files))


def _reading(key: int, needs: list[Need], files: Files) -> Callable[[Connection, Tenants], Awaitable[Copy]]:
    async def read(connection: Connection, tenants: Tenants) -> Copy:
        async with connection.transaction(ONE_MOMENT):
            return await _copy(connection, key, needs, tenants, files)

    return read


async def _copy(connection: Connection, key: int, needs: list[Need], tenants: Tenants, files: Files) -> Copy:
    tree = await read_live_tree(connection, key, tenants)
    if tree is None:
        return Copy(partition_of(key), 0, Catalogue(), {})
    state, sources = tree.state, set[str]()
    snapshot = await tree.snapshot()
    sources.update(one.sha256 for one in snapshot.definitions)
    await load.fill(connection, state, [need for need in needs if need.kind in OF_CATALOGUE])
    for need in needs:
        sources.update(_files_for(need, state))
    for sha256 in sorted(sources - files.keys()):
        files[sha256] = await definitions.resource(connection, sha256)
    contents = {sha256: content for sha256 in sources if (content := files[sha256]) is not None}
    document = encode(snapshot).encode()
    rows = state.trees[tree.root.key].rows
    await tree.take_apart()
    return Copy(state.partition, tree.now, state.catalogue, contents, document, rows, tree.in_parts)


def _files_for(need: Need, state: State) -> Iterator[str]:
    """The SHA-256 of files that a need names, or that its command will likely need next."""
    catalogue = state.catalogue
    if need.kind in (NeedKind.MODEL, NeedKind.DEFINITION):
        definition: Definition | None = catalogue.definitions.get(need.key)
        yield from () if definition is None else (definition.sha256,)
    elif need.kind is NeedKind.FAMILY:
        family = catalogue.families.get(need.key)
        yield from (family[max(family)].sha256,) if family else ()
    elif need.kind is NeedKind.DECISION_MODEL:
        decision = catalogue.decisions.get(need.key)
        yield from () if decision is None else decision.files
    elif need.kind is NeedKind.DECISIONS:
        versions = catalogue.decision_versions.get(need.key)
        yield from versions[max(versions)].files if versions else ()
