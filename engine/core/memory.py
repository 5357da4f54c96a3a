"""The core as a library: a whole engine in memory, without database, clock or tasks. For tests, benchmarks and trials.

It runs commands one after the other, follow-ups included, and keeps what the log would keep. Nothing is durable.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import sha256

from engine.bpmn.model import Problem, Process
from engine.bpmn.resources import read_resource
from engine.core.needs import NeedKind, NotLoaded
from engine.core.records import Command, Deploy, DeploymentReply, ProcessMetadata, ResourceReference
from engine.core.state import Definition, State
from engine.core.step import DEFAULT_LIMITS, Entry, Handled, Limits, Processor

DEFAULT_TENANT = "<default>"


class Refused(Exception):
    """A deployment with problems."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Logged:
    """What one position of the log came to."""

    position: int
    now: int
    command: Command
    handled: list[Handled]


class MemoryEngine:
    """One partition, whose log is a list. `now` (epoch ms) is what the next commands are given as the time."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS, partition: int = 1) -> None:
        self.state = State(partition)
        self.log: list[Logged] = []
        self.now = 0
        self._resources: dict[str, dict[str, Process]] = {}
        self.processor = Processor(self.state, limits, self._find_model)

    def deploy(self, content: bytes, name: str = "process.bpmn", tenant: str = DEFAULT_TENANT) -> DeploymentReply:
        """Deploy one file.

        Raises:
            Refused: it cannot be executed; with all problems.
        """
        parsed = read_resource(name, content)
        if parsed.problems:
            raise Refused(tuple(parsed.problems))
        digest = sha256(content).hexdigest()
        self._resources[digest] = {process.id: process for process in parsed.processes}
        metadata = tuple(ProcessMetadata(p.id, p.name, p.version_tag) for p in parsed.processes)
        handled = self.run(Deploy((ResourceReference(name, digest, metadata),)), tenant)
        assert isinstance(handled.response, DeploymentReply)
        return handled.response

    def run(self, command: Command, tenant: str = DEFAULT_TENANT) -> Handled:
        """Handle a command and all that follows from it; what came of the command itself."""
        pending: deque[tuple[Command, str, int | None]] = deque([(command, tenant, None)])
        first: Handled | None = None
        while pending:
            handled = self._handle(*pending.popleft())
            first = first or handled[0]
            notices = self.processor.notices
            pending.extend((one.command, one.tenant, one.request) for one in notices.spilled)
            notices.spilled.clear()
        assert first is not None
        return first

    def _handle(self, command: Command, tenant: str, request: int | None) -> list[Handled]:
        """One row of the log, as a batch of its own."""
        position = len(self.log) + 1
        entry = Entry(position, tenant, command, request)
        while True:
            try:
                handled = self.processor.process(entry, self.now)
                break
            except NotLoaded as missing:
                if missing.need.kind is not NeedKind.FAMILY or missing.need.key in self.state.families:
                    raise
                self.state.families[missing.need.key] = {}
        self.log.append(Logged(position, self.now, command, handled))
        roots = self.state.seal()
        self.state.saved()
        self.state.committed(roots)
        return handled

    def _find_model(self, definition: Definition) -> Process | None:
        processes = self._resources.get(definition.sha256)
        return None if processes is None else processes[definition.process_id]
