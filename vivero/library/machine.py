"""An engine in memory for one call of the library: it restores a tree, runs commands, and writes the tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from vivero.core.execution.outcomes import Handled
from vivero.core.execution.step import StepLimits
from vivero.core.feel import from_json
from vivero.core.memory import MemoryEngine
from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.records.base import Command, Event
from vivero.core.records.effects import Rejection
from vivero.core.records.instances import ContinueWork, InstanceCreated
from vivero.core.records.messages import CompleteThrow
from vivero.core.snapshots import format as entries
from vivero.core.snapshots.format import FORMAT, Snapshot
from vivero.core.snapshots.reader import add_channels, add_tree
from vivero.core.snapshots.writer import definition_entry, snapshot_of
from vivero.core.state.instance_tree import ACTIVATED, Element
from vivero.library.json_values import to_json
from vivero.library.models import Models

MOST_ROWS = 100_000
"""Live rows of a tree. No loop is paged: a snapshot has all rows."""
MOST_COMMANDS = 1_000
"""Commands and quanta of one call. A process that goes round without waiting never ends otherwise."""
LIMITS = StepLimits(paged_from=MOST_ROWS, max_part_rows=MOST_ROWS, max_tree_rows=MOST_ROWS, inline_follow_ups=False)


Place = tuple[str, str]
"""A process id, and the id of an element or a sequence flow of the process."""


THROWERS = frozenset(("INTERMEDIATE_THROW_EVENT", "END_EVENT", "SEND_TASK"))
"""Types of elements that wait until their event is delivered. In the library that is before a call ends."""


class Rejected(Exception):
    """The instance cannot do this now; nothing has happened. `code` is NOT_FOUND, INVALID_STATE, …

    `problems`: all reasons. The text of the exception is the first of them.
    """

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.reason)
        self.code = str(rejection.code)
        self.problems = tuple(one.message for one in rejection.violations) or (rejection.reason,)


class MissingModel(Exception):
    """A process that the instance runs is not among the models."""


class TooMuchWork(Exception):
    """The process does not come to a wait state. Nothing has happened."""


class Machine:
    """One instance tree. `now` is the time of the next command, in epoch milliseconds."""

    def __init__(self, models: Models, tenant: str, known: tuple[entries.DefinitionEntry, ...], next_key: int) -> None:
        partition = next_key >> PARTITION_SHIFT
        self.tenant = tenant
        self.engine = MemoryEngine(LIMITS, partition, resources=models.resources)
        if models.of_cluster or models.of_tenant:
            self.engine.set_cluster_variables(_values(models.of_cluster), _values(models.of_tenant))
        self.state = self.engine.state
        self.state.next_key = next_key
        self.state.begin_command()
        for definition in models.definitions(tenant, known):
            family = self.state.catalogue.families.setdefault((tenant, definition.process_id), {})
            family[definition.version] = definition
            self.state.catalogue.definitions[definition.key] = definition
        for form in models.forms(tenant):
            self.state.catalogue.form_versions.setdefault((tenant, form.form_id), {})[form.version] = form
            self.state.catalogue.forms[form.key] = form
        for resource in models.generic_resources(tenant):
            known_versions = self.state.catalogue.generic_resource_versions.setdefault(
                (tenant, resource.resource_id), {}
            )
            known_versions[resource.version] = resource
            self.state.catalogue.generic_resources[resource.key] = resource
        self.engine.decision_files.update(models.decision_files)
        for decision in models.decisions(tenant):
            versions = self.state.catalogue.decision_versions.setdefault((tenant, decision.decision_id), {})
            versions[decision.version] = decision
            self.state.catalogue.decisions[decision.key] = decision
        self.version = 0
        self.root: entries.ElementEntry | None = None
        self.places: dict[int, Place] = {}
        """The elements of the restored tree by key."""
        self.commands: list[Command] = []
        """The commands that were handled, in their order."""

    @classmethod
    def restored(cls, models: Models, snapshot: Snapshot, also: tuple[entries.DefinitionEntry, ...] = ()) -> Machine:
        """A machine that continues a snapshot. `also`: definitions that it knows beside those of the snapshot.

        Raises:
            MissingModel: a model is not there.
            InvalidSnapshot: the snapshot contradicts itself.
        """
        known = tuple(dict.fromkeys((*snapshot.definitions, *also)))
        for entry in known:
            if not models.has(entry.process_id, entry.sha256):
                raise MissingModel(
                    f"The instance runs version {entry.version} of process '{entry.process_id}', file "
                    f"'{entry.resource_name}' with SHA-256 {entry.sha256}, which is not among the models"
                )
        machine = cls(models, snapshot.tenant_id, known, int(snapshot.next_key))
        add_tree(machine.state, snapshot, models.process)
        add_channels(machine.state, snapshot)
        machine.places = {key: (one.instance.process_id, one.element) for key, one in machine.state.elements.items()}
        machine.engine.now, machine.version, machine.root = snapshot.at, snapshot.version, snapshot.elements[0]
        return machine

    @property
    def now(self) -> int:
        return self.engine.now

    def set_time(self, now: int) -> None:
        """Move the clock. It never goes back."""
        self.engine.now = max(self.engine.now, now)

    def run(self, command: Command) -> Handled:
        """Run a command and all that follows from it.

        Raises:
            Rejected: nothing has happened.
            TooMuchWork: the process does not come to a wait state.
        """
        pending: deque[tuple[Command, str, int | None]] = deque([(command, self.tenant, None)])
        first: Handled | None = None
        position = self.engine.before + len(self.engine.log) + 1
        while pending:
            if len(self.commands) >= MOST_COMMANDS:
                raise TooMuchWork(
                    f"The process did not come to a wait state within {MOST_COMMANDS} commands and quanta"
                )
            self.commands.append(pending[0][0])
            handled = self.engine.handle(*pending.popleft())
            first = first or handled[0]
            if handled[0].rejection is not None and first is handled[0]:
                raise Rejected(handled[0].rejection)
            for later in handled[1:] if not first.answered else ():  # the last page of its decision may refuse it
                if later.rejection is not None and later.request == position:
                    raise Rejected(later.rejection)
            pending.extend(self.engine.take_inbox())
        assert first is not None
        return first

    def begin_call(self) -> None:
        """Begin another call on the same tree: its limits are those of a call."""
        self.commands.clear()
        self.engine.forget_log()

    def continue_work(self) -> None:
        """Run what the snapshot of a server may have left: deferred work, and throws whose delivery was under way."""
        for tree in list(self.state.trees.values()):
            if tree.work:
                self.run(ContinueWork(tree.key))
        for element in [element for element in self.state.elements.values() if _throws(element)]:
            self.run(CompleteThrow(element.key))

    def events(self) -> Iterator[Event]:
        """All events so far."""
        return (event for logged in self.engine.log for handled in logged.handled for event in handled.events)

    def snapshot(self) -> Snapshot:
        """The tree as it is now, as the next version."""
        version, next_key = self.version + 1, self.state.next_key
        for tree in self.state.trees.values():
            return snapshot_of(
                tree.root,
                self.state.catalogue,
                version=version,
                at=self.now,
                next_key=next_key,
                channels=self.state.channels.values(),
                registrations=self.state.registrations.by_key.values(),
            )
        return self._ended(version)

    def _ended(self, version: int) -> Snapshot:
        ended = self.engine.processor.notices.ended[-1]
        root = self.root or self._created()
        assert root.process is not None, "a root is a process instance"
        assert ended.variables is not None, "nothing is lazy in memory"
        variables = (
            entries.VariableEntry(key=str(one.key), scope_key=root.key, name=one.name, value=entries.raw(one.value))
            for one in sorted(ended.variables)
        )
        entry = entries.ElementEntry(
            key=root.key,
            element_id=root.element_id,
            type=root.type,
            state=ended.state,
            started_at=root.started_at,
            process=root.process,
        )
        return Snapshot(
            format=FORMAT,
            version=version,
            at=self.now,
            state=ended.state,
            next_key=str(self.state.next_key),
            tenant_id=self.tenant,
            definitions=(definition_entry(self.state.catalogue.definitions[int(root.process.definition_key)]),),
            elements=(entry,),
            variables=tuple(variables),
        )

    def _created(self) -> entries.ElementEntry:
        """The root of an instance that began and ended in this call."""
        event = next(event for event in self.events() if isinstance(event, InstanceCreated))
        process = entries.ProcessEntry(
            definition_key=str(event.definition_key), business_id=event.business_id, tags=event.tags
        )
        return entries.ElementEntry(
            key=str(event.key),
            element_id=event.process_id,
            type="PROCESS",
            state="ACTIVATED",
            started_at=self.engine.log[0].now,
            process=process,
        )


def _values(variables: Mapping[str, Any]) -> dict[str, Any]:
    """JSON values as FEEL has them. Raises TypeError for a value that JSON does not have."""
    return {name: from_json(to_json(name, value)) for name, value in variables.items()}


def _throws(element: Element) -> bool:
    """Whether the element waits for the delivery of what it has thrown, and not for a worker or a person."""
    waits = element.waits.jobs or element.waits.incidents or element.children
    return element.type in THROWERS and element.state is ACTIVATED and not waits
