"""The trial of a command on a copy of a tree. A compute process imports this module, and little else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from vivero.core.records.instances import ElementCompleted, InstanceCreated
from vivero.core.records.migrations import InstanceMigrated
from vivero.core.resources.decisions import limits_of_decisions
from vivero.core.snapshots.codec import InvalidSnapshot, decode
from vivero.core.snapshots.reader import add_tree
from vivero.core.state.catalogue import Catalogue, DecisionVersion, Definition
from vivero.core.state.instance_tree import Instance
from vivero.core.state.state import State
from vivero.core.undos.inverse import NOTHING_AROUND, NotExact, Operation, inverse_of, operation_of

BUSY = "The process instance has deferred work, which the engine does first. Please repeat the dry run when it is done"


ParsedFile = Mapping[str, Process]
"""The processes of a file by their ids; none if it can no longer be read."""


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
    """The report as JSON, or the need that was missing. `processes`: the ids of all processes that it shows: those of
    the tree, and those that the command calls or migrates to. `undo`: of a modification that would be done."""

    report: bytes = b""
    rejection: Rejection | None = None
    version: int = 0
    processes: frozenset[str] = frozenset()
    lacks: Need | None = None
    undo: UndoForecast | None = None


class UndoForecast(NamedTuple):
    """Whether a modification could be taken back. `reason`: why not. `never_taken`: jobs that no worker may have."""

    reason: str | None
    never_taken: tuple[int, ...] = ()


def try_out(copy: Copy, question: Question) -> Answer:
    """Try the command on the copy. Raises InvalidSnapshot: a model of the tree can no longer be read."""
    processor, root = _prepared(copy, question, {})
    state = processor.state
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
    undo = None if rejection is not None else _undo_of(trial.events, question.key)
    return Answer(msgspec.json.encode(report), rejection, version, processes | _joined(trial.events), undo=undo)


def _undo_of(events: list[Event], key: int) -> UndoForecast | None:
    """Whether a modification with these events could be taken back; None: it was another command."""
    if operation_of(events, key) is not Operation.MODIFY:
        return None
    try:
        found = inverse_of(Operation.MODIFY, events, key, NOTHING_AROUND)
    except NotExact as reason:
        return UndoForecast(str(reason))
    return UndoForecast(None, found.never_taken)


class Verdict(NamedTuple):
    """Whether a command would be done: there is no rejection. `untried`: the reason why nobody knows."""

    rejection: Rejection | None = None
    untried: str | None = None
    lacks: Need | None = None


def judge(attempts: Sequence[tuple[Copy, Question]]) -> list[Verdict]:
    """The verdicts on some commands, in their order. They share the models."""
    parsed: dict[str, ParsedFile] = {}
    return [_verdict(copy, question, parsed) for copy, question in attempts]


def _verdict(copy: Copy, question: Question, parsed: dict[str, ParsedFile]) -> Verdict:
    try:
        processor, _ = _prepared(copy, question, parsed)
    except InvalidSnapshot as error:
        return Verdict(untried=str(error))
    trial = Trial(processor, copy.now)
    try:
        trial.run(decode_command(question.intent, question.payload), question.tenant, to_end=False)
    except NotLoaded as missing:
        return Verdict(lacks=missing.need)
    return Verdict(untried=BUSY) if trial.is_put_off else Verdict(trial.rejection)


def _prepared(copy: Copy, question: Question, parsed: dict[str, ParsedFile]) -> tuple[Processor, Instance | None]:
    """A processor of the copy, and the root of its tree, if it has one."""
    models = _Models(copy, question.files, parsed)
    state = State(copy.partition)
    state.catalogue = copy.catalogue
    root = _add(copy, state, models) if copy.snapshot else None
    return Processor(state, replace(question.limits, inline_follow_ups=False), models.find, models.decisions), root


def _add(copy: Copy, state: State, models: _Models) -> Instance:
    snapshot = decode(copy.snapshot)
    state.next_key = max(state.next_key, int(snapshot.next_key))
    tree = add_tree(state, snapshot, models.find)
    tree.rows, tree.in_parts = copy.rows, copy.in_parts
    state.begin_command()
    return tree.root


def _joined(events: list[Event]) -> frozenset[str]:
    """The ids of processes that these events begin, or migrate to."""
    return frozenset(event.process_id for event in events if isinstance(event, InstanceCreated | InstanceMigrated))


def _state_of(state: State, key: int, events: list[Event]) -> str:
    """The state of a process instance after these events."""
    instance = state.elements.get(key)
    if isinstance(instance, Instance):
        return "ACTIVE" if instance.suspended_at is None else "SUSPENDED"
    completed = any(isinstance(event, ElementCompleted) and event.key == key for event in events)
    return "COMPLETED" if completed else "TERMINATED"


class _Models:
    """The models and decisions of the files of a copy. Each file is read once, when it is needed."""

    def __init__(self, copy: Copy, limits: XmlLimits, read: dict[str, ParsedFile]) -> None:
        """`read`: the models of files, which copies may share."""
        self._files, self._unreadable, self._limits, self._read = copy.files, copy.catalogue.unreadable, limits, read
        self._compiled: dict[tuple[str, ...], Decisions | None] = {}

    def find(self, definition: Definition) -> Process | None:
        sha256 = definition.sha256
        if sha256 not in self._read and sha256 in self._files:
            parsed = parse(self._files[sha256], sha256, self._limits)
            self._read[sha256] = {} if parsed.problems else {process.id: process for process in parsed.processes}
        found = self._read.get(sha256, {})
        if not found and sha256 in self._read:
            self._unreadable.add(sha256)
        return found.get(definition.process_id)

    def decisions(self, decision: DecisionVersion) -> Decisions | None:
        files = decision.files
        if files not in self._compiled and self._files.keys() >= set(files):
            contents = {sha256: self._files[sha256] for sha256 in files}
            read = read_decisions(contents, limits=limits_of_decisions(self._limits))
            self._compiled[files] = read.decisions
            if read.decisions is None:
                self._unreadable.add(decision.sha256)
        return self._compiled.get(files)
