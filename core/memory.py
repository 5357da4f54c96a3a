"""The core as a library: an engine in memory without database, clock or tasks, for tests, benchmarks and trials.

It runs commands and their follow-ups one by one, and keeps a log. Nothing is durable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import Parsed
from vivero.core.commands.deployments import references_of
from vivero.core.dmn import Decisions, read_decisions
from vivero.core.execution.outcomes import CommandRecord, Handled, InboxCommand
from vivero.core.execution.step import DEFAULT_LIMITS, Processor, StepLimits
from vivero.core.expressions.camunda_context import variables_seen
from vivero.core.feel import decode_large
from vivero.core.needs import Lease, Need, NeedKind, NotLoaded
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.catalogue import Deploy, DeploymentReply
from vivero.core.resources.kinds import read_resources
from vivero.core.resources.problems import problems_of
from vivero.core.rules import FOLLOW_UP_ROUNDS
from vivero.core.state import batches
from vivero.core.state.catalogue import DecisionVersion, Definition
from vivero.core.state.message_channels import MessageChannel, Starts
from vivero.core.state.state import State

_BY_KEY = frozenset(
    (
        *(NeedKind.ELEMENT, NeedKind.SUBSCRIPTION, NeedKind.DEFINITION, NeedKind.FORM),
        NeedKind.GENERIC_RESOURCE,
        *(NeedKind.REQUIREMENTS_KEY, NeedKind.DECISION),
    )
)
"""Needs of rows by key: what is not in memory does not exist."""


class InvalidDeployment(Exception):
    """A deployment with problems."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Logged:
    """One position of the log with its results."""

    position: int
    now: int
    command: Command
    handled: list[Handled]


class MemoryEngine:
    """One partition, whose log is a list. `now` (epoch ms) is the time of the next commands."""

    def __init__(
        self,
        limits: StepLimits = DEFAULT_LIMITS,
        partition: int = 1,
        resources: Mapping[str, dict[str, Process]] = {},
        read: Callable[[Mapping[str, bytes]], Sequence[Parsed]] = read_resources,
    ) -> None:
        """`resources`: SHA-256 → processes by id, of definitions that the caller puts into the catalogue.
        `read` reads the files of a deployment: models are immutable, and engines may share them."""
        self.state = State(partition)
        self.log: list[Logged] = []
        self.before = 0
        """The position before the first one."""
        self.now = 0
        self._variables = variables_seen({}, {})
        self._resources = dict(resources)
        self._read = read
        self.decision_files: dict[str, bytes] = {}
        """The files of decisions that were deployed, by SHA-256."""
        self._decisions: dict[tuple[str, ...], Decisions] = {}
        self.processor = Processor(self.state, limits, self.find_model, self.find_decisions)
        self.held: dict[int, list[InboxCommand]] = {}
        """Commands that holds of migrations keep, by the roots of their trees."""

    def set_cluster_variables(self, of_cluster: Mapping[str, Any], of_tenant: Mapping[str, Any] = {}) -> None:
        """Set the cluster variables that all expressions see from now on. Values are those of FEEL in Python."""
        self._variables = variables_seen(dict(of_cluster), dict(of_tenant))
        self.state.catalogue.cluster_variables.clear()

    def deploy(self, content: bytes, name: str = "process.bpmn", tenant: str = DEFAULT_TENANT) -> DeploymentReply:
        """Deploy one file. Raises as `deploy_all`."""
        return self.deploy_all({name: content}, tenant)

    def deploy_all(self, files: Mapping[str, bytes], tenant: str = DEFAULT_TENANT) -> DeploymentReply:
        """Deploy files together.

        Raises:
            InvalidDeployment: the files have problems, each by itself or together.
        """
        parsed = self._read(files)
        if problems := problems_of(parsed):
            raise InvalidDeployment(problems)
        digests = [sha256(content).hexdigest() for content in files.values()]
        for digest, each in zip(digests, parsed, strict=True):
            if each.decisions is None:
                self._resources[digest] = {process.id: process for process in each.processes}
            else:
                self.decision_files[digest] = files[each.resource]
        handled = self.run(Deploy(references_of(parsed, digests)), tenant)
        assert isinstance(handled.response, DeploymentReply)
        return handled.response

    def run(self, command: Command, tenant: str = DEFAULT_TENANT) -> Handled:
        """Handle a command and all its follow-ups. Returns the result of the command itself."""
        pending: deque[tuple[Command, str, int | None]] = deque([(command, tenant, None)])
        first: Handled | None = None
        while pending:
            handled = self.handle(*pending.popleft())
            first = first or handled[0]
            pending.extend(self.take_inbox())
        assert first is not None
        return first

    def take_inbox(self) -> list[tuple[Command, str, int | None]]:
        """The commands that reach the log next, each with its tenant and request. Held ones wait until they return."""
        notices, found = self.processor.notices, list[InboxCommand]()
        for root, returned in notices.returned.items():
            del self.held[root][:returned]
        for root, released in notices.released.items():
            found += self.held[root][:released]
            self.held[root] = self.held[root][released:]
        for one in notices.to_inbox:
            (found if one.held_by is None else self.held.setdefault(one.held_by, [])).append(one)
        notices.to_inbox.clear()
        notices.released.clear()
        notices.returned.clear()
        return [(one.command, one.tenant, one.request) for one in found]

    def forget_log(self) -> None:
        """Forget the log so far. Later commands get the next positions."""
        self.before += len(self.log)
        self.log.clear()

    def handle(self, command: Command, tenant: str, request: int | None) -> list[Handled]:
        """Handle one row of the log as a batch of its own."""
        position = self.before + len(self.log) + 1
        entry = CommandRecord(position, tenant, command, request)
        leases: dict[int, Lease | None] = {}
        while True:
            try:
                handled = self.processor.process(entry, self.now, leases)
                break
            except NotLoaded as missing:
                self._supply_any(missing.need, leases)
        for _ in range(FOLLOW_UP_ROUNDS):
            if not (self.processor.awaiting_load or self.processor.held.return_now):
                break
            for awaiting in self.processor.awaiting_load:
                self._supply(awaiting.needs[-1])
            for rows in self.processor.resume_awaiting():
                handled += rows
            for need in self.processor.held.lacks:
                self._supply_any(need, leases)
            for _, rows in self.processor.take_back_held(lambda: False, lambda _: True, leases):
                handled += rows
        self.processor.give_up_awaiting()
        self.log.append(Logged(position, self.now, command, handled))
        self.state.values.clear()
        roots = batches.close(self.state)
        self.state.begin_batch()
        batches.committed(self.state, roots)
        return handled

    def _supply_any(self, need: Need, leases: dict[int, Lease | None]) -> None:
        """Supply a need, also that of a lease: no job has one here."""
        if need.kind is NeedKind.LEASE:
            leases[need.key] = None
        else:
            self._supply(need)

    def _supply(self, need: Need) -> None:
        """Supply a need: a row that is not in memory does not exist, and begins empty."""
        state = self.state
        if need.kind is NeedKind.FAMILY:
            state.catalogue.families.setdefault(need.key, {})
        elif need.kind is NeedKind.FORMS:
            state.catalogue.form_versions.setdefault(need.key, {})
        elif need.kind is NeedKind.GENERIC_RESOURCES:
            state.catalogue.generic_resource_versions.setdefault(need.key, {})
        elif need.kind is NeedKind.REQUIREMENTS:
            state.catalogue.requirements_versions.setdefault(need.key, {})
        elif need.kind is NeedKind.DECISIONS:
            state.catalogue.decision_versions.setdefault(need.key, {})
        elif need.kind is NeedKind.DEPLOYMENT:
            state.catalogue.deployments[need.key] = None
        elif need.kind is NeedKind.CHANNEL:
            if need.key not in state.channels:  # another follow-up of a full batch may have created it
                state.channels[need.key] = MessageChannel(*need.key)
        elif need.kind is NeedKind.STARTS and state.catalogue.starts is None:
            state.catalogue.starts = Starts()
        elif need.kind is NeedKind.REGISTRATION:
            state.registrations.gone.add(need.key)
        elif need.kind is NeedKind.TASK_LISTENERS:
            state.catalogue.task_listeners = {}
        elif need.kind is NeedKind.CLUSTER_VARIABLES:
            state.catalogue.cluster_variables[need.key] = self._variables
        elif need.kind is NeedKind.VALUE:
            state.values[need.key] = decode_large(need.key)
        elif need.kind is NeedKind.WORK:
            state.trees[need.key].loaded_work = None  # all parts are in memory
        elif need.kind in (NeedKind.SIGNAL, NeedKind.SUSPENDED):
            state.loaded_pages[need.key] = None
        elif need.kind not in _BY_KEY:
            raise NotLoaded(need)

    def find_model(self, definition: Definition) -> Process | None:
        processes = self._resources.get(definition.sha256)
        return None if processes is None else processes[definition.process_id]

    def find_decisions(self, decision: DecisionVersion) -> Decisions | None:
        """The compiled decisions of a decision's file; None if it was not deployed here."""
        files = decision.files
        if files not in self._decisions and self.decision_files.keys() >= set(files):
            read = read_decisions({sha256: self.decision_files[sha256] for sha256 in files}).decisions
            if read is not None:
                self._decisions[files] = read
        return self._decisions.get(files)
