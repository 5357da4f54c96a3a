"""The trial of a command on a copy of a tree. A compute process imports this module, and little else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import msgspec

from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.xml import XmlLimits
from vivero.core.dmn import Decisions, read_decisions
from vivero.core.dry_runs.live_rows import live_rows_in
from vivero.core.dry_runs.report import refused, report_of
from vivero.core.dry_runs.starving_joins import starving_joins
from vivero.core.dry_runs.trial import Trial
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NotLoaded
from vivero.core.records.base import Event
from vivero.core.records.codec import decode_command
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import ElementCompleted
from vivero.core.resources.decisions import limits_of_decisions
from vivero.core.snapshots.codec import decode
from vivero.core.snapshots.reader import add_tree
from vivero.core.state.catalogue import Catalogue, DecisionVersion, Definition
from vivero.core.state.instance_tree import Instance
from vivero.core.state.state import State

BUSY = "The process instance has deferred work, which the engine does first. Please repeat the dry run when it is done"


class Copy(NamedTuple):
    """A tree, and what its command may need of the catalogue. `files`: by SHA-256."""

    partition: int
    now: int
    """The engine's time, epoch milliseconds."""
    catalogue: Catalogue
    files: Mapping[str, bytes]
    snapshot: bytes = b""
    """Empty: there is no tree."""
    rows: int = 0
    """`InstanceTree.rows` and `in_parts` of the tree where the engine has it."""
    in_parts: int = 0


class Question(NamedTuple):
    """The command to try, about the process instance with a key. `tenant`: the tenants of its sender."""

    intent: str
    payload: bytes
    tenant: str
    key: int
    limits: StepLimits
    files: XmlLimits


class Answer(NamedTuple):
    """The report as JSON, or the need that was missing. `processes`: the ids of all processes of the tree."""

    report: bytes = b""
    rejection: Rejection | None = None
    version: int = 0
    processes: frozenset[str] = frozenset()
    lacks: Need | None = None


def try_out(copy: Copy, question: Question) -> Answer:
    """Try the command on the copy. Raises InvalidSnapshot: a model of the tree can no longer be read."""
    models = _Models(copy, question.files)
    state = State(copy.partition)
    state.catalogue = copy.catalogue
    root: Instance | None = None
    if copy.snapshot:
        root = _add(copy, state, models)
    processor = Processor(state, replace(question.limits, inline_follow_ups=False), models.find, models.decisions)
    processes = frozenset(one.process_id for one in state.elements.values() if isinstance(one, Instance))
    before, starved = live_rows_in(root), starving_joins(root, processor.view)
    version = 0 if root is None else root.tree.revision
    trial = Trial(processor, copy.now)
    try:
        trial.run(decode_command(question.intent, question.payload), question.tenant)
        after = None if root is None or root.key not in state.trees else root
        starving = starving_joins(after, processor.view) - starved
    except NotLoaded as missing:
        return Answer(lacks=missing.need)
    rejection = Rejection(RejectionCode.INVALID_STATE, BUSY) if trial.is_put_off else trial.rejection
    if rejection is not None:
        report = refused(version, _state_of(state, question.key, []), rejection)
    else:
        ends = _state_of(state, question.key, trial.events)
        report = report_of(version, ends, trial.events, before, live_rows_in(after), starving)
    return Answer(msgspec.json.encode(report), rejection, version, processes)


def _add(copy: Copy, state: State, models: _Models) -> Instance:
    snapshot = decode(copy.snapshot)
    state.next_key = max(state.next_key, int(snapshot.next_key))
    tree = add_tree(state, snapshot, models.find)
    tree.rows, tree.in_parts = copy.rows, copy.in_parts
    state.begin_command()
    return tree.root


def _state_of(state: State, key: int, events: list[Event]) -> str:
    """The state of a process instance after these events."""
    instance = state.elements.get(key)
    if isinstance(instance, Instance):
        return "ACTIVE" if instance.suspended_at is None else "SUSPENDED"
    completed = any(isinstance(event, ElementCompleted) and event.key == key for event in events)
    return "COMPLETED" if completed else "TERMINATED"


class _Models:
    """The models and decisions of the files of a copy. Each file is read once, when it is needed."""

    def __init__(self, copy: Copy, limits: XmlLimits) -> None:
        self._files, self._unreadable, self._limits = copy.files, copy.catalogue.unreadable, limits
        self._read: dict[str, Mapping[str, Process]] = {}
        self._compiled: dict[tuple[str, ...], Decisions | None] = {}

    def find(self, definition: Definition) -> Process | None:
        sha256 = definition.sha256
        if sha256 not in self._read and sha256 in self._files:
            parsed = parse(self._files[sha256], sha256, self._limits)
            if parsed.problems:
                self._unreadable.add(sha256)
            self._read[sha256] = {} if parsed.problems else {process.id: process for process in parsed.processes}
        return self._read.get(sha256, {}).get(definition.process_id)

    def decisions(self, decision: DecisionVersion) -> Decisions | None:
        files = decision.files
        if files not in self._compiled and self._files.keys() >= set(files):
            contents = {sha256: self._files[sha256] for sha256 in files}
            read = read_decisions(contents, limits=limits_of_decisions(self._limits))
            self._compiled[files] = read.decisions
            if read.decisions is None:
                self._unreadable.add(decision.sha256)
        return self._compiled.get(files)
