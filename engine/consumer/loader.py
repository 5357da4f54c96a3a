"""Loading what commands need: rows from the database, models from the cache of definitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import thread_time

import structlog
import trio

from vivero.core.bpmn.model import Process
from vivero.core.dmn import Decisions
from vivero.core.feel import EvaluationError, decode_large
from vivero.core.needs import Need, NeedKind
from vivero.core.partitions.routes import Routes
from vivero.core.state.catalogue import DecisionVersion, Definition
from vivero.core.state.instance_tree import MISSING
from vivero.core.state.state import Decoded, State
from vivero.engine.consumer.log_reader import LogReader
from vivero.engine.consumer.owner import Owner
from vivero.engine.definitions.cache import Models, UnreadableResource
from vivero.engine.definitions.decisions import COMPILE_S, Files, UnreadableDecisions
from vivero.engine.supervision.beat import Beat
from vivero.storage.cluster import routes
from vivero.storage.log.log_batches import LogPage
from vivero.storage.postgres.errors import describe
from vivero.storage.state import load
from vivero.storage.state.load import Loaded

log = structlog.get_logger(__name__)

PARSE_S = 300.0
"""Patience for parsing a model. The largest file takes two seconds of CPU, of which other programs may leave little. A
compute process ends a task earlier, also if it does it twice."""


@dataclass(slots=True)
class Reading:
    """The time that all loads of a term have taken, by the clock and of the processor. A shorter quantum reads no
    less, so that its size follows from the rest."""

    took_s: float = 0.0
    cpu_s: float = 0.0


class Loader:
    """Fills the state of a term with what its commands need."""

    def __init__(self, owner: Owner, state: State, log_reader: LogReader, beat: Beat) -> None:
        self._settings, self._stats = owner.settings, owner.stats
        self._definitions = owner.definitions
        self._state = state
        self._log_reader = log_reader
        self._beat = beat
        self.reading = Reading()
        self._definitions_seq: int | None = None
        self._pinned: dict[str, Models] = {}
        """The models that the commands under way have found, by file. The cache may evict them meanwhile."""
        self._pinned_decisions: dict[Files, Decisions] = {}

    def is_outdated(self, read: LogPage) -> bool:
        """Whether the cached catalogue must be dropped: another node deployed something, or there is too much of it."""
        foreign = self._definitions_seq is not None and read.definitions_seq > self._definitions_seq
        catalogue = self._state.catalogue
        return foreign or catalogue.size > self._settings.max_definitions

    def may_be_rerouted(self, read: LogPage) -> bool:
        """Whether the routes may have changed since the last read. A change raises the catalogue's number, too."""
        return self._definitions_seq is None or read.definitions_seq > self._definitions_seq

    async def routes(self) -> Routes:
        """The routes, at least as new as the last read."""
        return await routes.read(await self._log_reader.connection_free(), self._state.partition)

    def note_read(self, read: LogPage) -> None:
        """Remember the version of the catalogue that rows were read with."""
        self._definitions_seq = max(read.definitions_seq, self._definitions_seq or 0)

    def unpin(self) -> None:
        """Leave the models to the cache: no command waits for another one that it needs, too."""
        self._pinned.clear()
        self._pinned_decisions.clear()

    def note_deployment(self) -> None:
        """A batch of this term changes the catalogue."""
        self._definitions_seq = (self._definitions_seq or 0) + 1

    async def load(self, needs: list[Need]) -> Loaded:
        """Load rows, as many as one load may."""
        loaded = await load.fill(await self._log_reader.connection_free(), self._state, needs)
        self._stats.found += loaded.found
        self._stats.looked_up += loaded.looked_up
        return loaded

    async def fill(self, needs: list[Need]) -> Loaded:
        """Load rows and models that follow-ups of a batch need."""
        began, began_s = trio.current_time(), thread_time()
        with self._beat.waiting(self._settings.call_timeout_s):
            loaded = await self.load(needs)
            await self.load_models(needs)
            await self.load_values(needs)
        self.reading.took_s += trio.current_time() - began
        self.reading.cpu_s += thread_time() - began_s
        return loaded

    async def load_models(self, needs: Iterable[Need]) -> None:
        """Load the models and compiled decisions that are needed of definitions that are in the state."""
        for need in needs:
            if need.kind is NeedKind.DECISION_MODEL:
                await self._load_decisions(need.key)
            definition = self._state.catalogue.definitions.get(need.key) if need.kind is NeedKind.MODEL else None
            if definition is not None and definition.sha256 not in self._pinned:
                await self._load_model(definition)

    async def _load_decisions(self, key: int) -> None:
        """Load the compiled decisions of the file of a decision that is in the state."""
        decision = self._state.catalogue.decisions.get(key)
        if decision is None or decision.files in self._pinned_decisions:
            return
        connection = await self._log_reader.connection_free()
        try:
            with self._beat.waiting(self._settings.call_timeout_s + COMPILE_S):
                found = await self._definitions.decisions.find(decision.files, connection)
        except UnreadableDecisions as error:
            log.error("a deployed file can no longer be read", definition=key, problems=describe(error))
            self._state.catalogue.unreadable.add(decision.sha256)
            return
        self._pinned_decisions[decision.files] = found

    async def load_values(self, needs: Iterable[Need]) -> None:
        """Decode very large variables in a thread, so that the event loop goes on meanwhile."""
        values = self._state.values
        for need in needs:
            if need.kind is NeedKind.VALUE and need.key not in values:
                with self._beat.waiting(PARSE_S):
                    values[need.key] = await trio.to_thread.run_sync(_decoded, need.key)

    def find_model(self, definition: Definition) -> Process | None:
        """The model of a definition if this node has parsed it already. Each call counts as a hit or a miss."""
        models = self._pinned.get(definition.sha256)
        if models is not None:
            self._definitions.hits += 1
            return models[definition.process_id]
        models = self._definitions.resource_nowait(definition.sha256)
        if models is None:
            return None
        self._pinned[definition.sha256] = models
        return models[definition.process_id]

    def find_decisions(self, decision: DecisionVersion) -> Decisions | None:
        """The compiled decisions of a decision's file if this node has compiled them already."""
        files = decision.files
        found = self._pinned_decisions.get(files) or self._definitions.decisions.find_nowait(files)
        if found is not None:
            self._pinned_decisions[files] = found
        return found

    async def _load_model(self, definition: Definition) -> None:
        connection = await self._log_reader.connection_free()
        try:
            with self._beat.waiting(PARSE_S):  # what reads it has limits of its own, which must end first
                models = await self._definitions.resource(definition.sha256, connection)
        except UnreadableResource as error:  # it concerns one definition: instances of the others go on
            log.error("a deployed file can no longer be read", definition=definition.key, problems=describe(error))
            self._state.catalogue.unreadable.add(definition.sha256)
            return
        if models is not None:
            self._pinned[definition.sha256] = models


def _decoded(text: str) -> Decoded:
    try:
        return decode_large(text)
    except EvaluationError:  # the stage that reads the variable will say so
        return MISSING, None
