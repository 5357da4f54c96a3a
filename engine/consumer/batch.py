"""A batch of the log through the core: log rows in, statements and notices out, without a task or a connection.

A batch ends early after 50 ms of computing, after megabytes of variables, or when a command lacks something that it did
not declare and that must be loaded first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from time import perf_counter, thread_time
from typing import NamedTuple

import msgspec
import structlog
import trio

from vivero.core.dispatch import COMMANDS
from vivero.core.execution.outcomes import CommandRecord, Handled, InboxCommand, Notices
from vivero.core.execution.step import Processor
from vivero.core.needs import Leases, Need, NotLoaded
from vivero.core.records.base import Command, Sender
from vivero.core.records.codec import INTENTS, check_encoding, decode_command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import ContinueWork, EndHold
from vivero.core.rules import FOLLOW_UP_ROUNDS
from vivero.core.state import batches
from vivero.core.state.batches import Retained
from vivero.core.state.slot_moves import slot_moves
from vivero.engine.consumer.new_job_leases import NewJobs
from vivero.engine.consumer.rejected_commands import RejectedCommands
from vivero.engine.consumer.traces import HandledCommand
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import AuditedCommand
from vivero.storage.log.command_log import EMPTY_ANSWER, CommandOutcome
from vivero.storage.log.log_batches import CommandRow
from vivero.storage.postgres.driver import Call
from vivero.storage.state import save
from vivero.storage.state.load import Loaded
from vivero.storage.state.load_plan import OF_TREES
from vivero.storage.state.saved_rows import NEW_JOBS, RowsByType

log = structlog.get_logger(__name__)

CHECKPOINT_EVERY_S = 0.001
"""The API shares this thread, and waits no longer than this for the engine."""
COMPUTE_S = 0.05
QUANTUM_ROUNDS = 16
"""The number of times that a quantum loads what it lacks. Then the command of the work goes on."""
ACCEPTED, REJECTED, FORWARDED = "accepted", "rejected", "forwarded"
FOLLOW_UP_S = 0.2
"""CPU time for follow-ups that wait for a load. The remaining ones go through the log."""

_WITH_WAITER = {intent for intent, command in INTENTS.items() if command.has_waiter}

Fill = Callable[[list[Need]], Awaitable[Loaded]]
"""Loads needs with a constant number of statements."""


class NewJobsOfBatch(NamedTuple):
    """The jobs that a batch creates for workers, and the place of the statement that inserts them."""

    ready: NewJobs
    place: int


@dataclass(slots=True)
class BatchResult:
    """The result of a batch, to be committed and then reported. Without commands it is a quantum of deferred work."""

    last: int
    next_key: int
    commands: int
    for_others: bool
    """Whether any of its commands did more than continue deferred work, or begin to wait for a hold."""
    calls: list[Call]
    roots: list[Retained]
    notices: Notices
    outcomes: list[CommandOutcome]
    moves_definitions: bool
    filled_inboxes: set[int]
    """Partitions whose inboxes got commands that no quantum does before they arrive."""
    counted: Counter[tuple[str, str]]
    """Commands by intent and outcome, for metrics."""
    now: int
    """The engine's time, in epoch ms."""
    new_jobs: NewJobsOfBatch | None = None
    """None: it creates no job that a worker can have."""
    seconds: float = 0.0
    """The time that the batch took up to its commit."""
    traced: Sequence[HandledCommand] = ()
    """Its sampled commands."""


@dataclass(slots=True)
class Decoded:
    """A log row with its command or its rejection; with both if the core rejects the command."""

    row: CommandRow
    command: Command | None
    rejection: Rejection | None = None


@dataclass(slots=True)
class _Collected:
    log_rows: list[save.EventLogRow] = field(default_factory=list)
    outcomes: list[CommandOutcome] = field(default_factory=list)
    audited: list[AuditedCommand] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    """Requests that this batch refuses after their commands."""
    untaken: list[int] = field(default_factory=list)
    """Jobs on whose leases the commands depend."""
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    last: int = 0
    commands: int = 0
    for_others: bool = False


def decode(rows: Iterable[CommandRow], rejected: RejectedCommands) -> list[Decoded]:
    """Decode rows into commands, or into rejections."""
    return [_decode(row, rejected) for row in rows]


def _decode(row: CommandRow, rejected: RejectedCommands) -> Decoded:
    rejection = rejected.positions.get(row.position)
    if rejection is not None and row.intent not in _WITH_WAITER and row.position not in rejected.slow:
        return Decoded(row, None, rejection)
    try:
        check_encoding(row.payload)
        command = decode_command(row.intent, row.payload)
        final = rejected.final(row.position, command)
        return Decoded(row, command, rejection) if final is None else Decoded(row, None, final)
    except MemoryError:  # the machine's fault
        raise
    except Exception as error:  # any error: decoding is the only chance to reject the row
        reason = f"the log row at position {row.position} ({row.intent}) cannot be read: {error}"
        return Decoded(row, None, Rejection(RejectionCode.PROCESSING_ERROR, reason))


def needs_of(processor: Processor, decoded: Iterable[Decoded]) -> list[Need]:
    """The declared needs of the commands that this partition handles, and the own trees that others concern."""
    several = processor.several
    return [
        need
        for one in decoded
        if one.command is not None
        for need in _declared(one.command, one.row.tenant)
        if not several or need.kind in OF_TREES or not processor.is_elsewhere(one.command, one.row.tenant)
    ]


def _declared(command: Command, tenants: str) -> Iterable[Need]:
    """The needs of a command. Those of a client are limited to the tenants of the client."""
    needs = COMMANDS[type(command)].needs(command, tenants)
    if command.sent_by is not Sender.CLIENT:
        return needs
    return (Need(need.kind, need.key, tenants, need.to_end) for need in needs)


def loaded_commands(processor: Processor, decoded: list[Decoded], left_out: Set[Need]) -> list[Decoded]:
    """The first commands, up to one that needs what a load has left out."""
    if not left_out:
        return decoded
    return list(takewhile(lambda one: left_out.isdisjoint(needs_of(processor, [one])), decoded))


async def compute(
    processor: Processor, decoded: list[Decoded], now: int, leases: Leases, fill: Fill
) -> tuple[BatchResult | None, Need | None]:
    """Run the commands in order. Returns what to commit (None if no command ran), and what the next command lacks.

    Follow-ups that lack something (a channel whose key was just evaluated, a tree that a message reaches) run after all
    commands, once `fill` has loaded it, and in the same transaction. So a client that learns the outcome of a command
    finds its follow-ups done.
    """
    collected, missing = _Collected(), None
    started = turn = perf_counter()
    for one in decoded:
        before = len(processor.notices.to_inbox)
        try:
            handled = _process(processor, one, now, leases)
        except NotLoaded as not_loaded:
            missing = not_loaded.need
            break
        sent = processor.notices.to_inbox[before:]
        _collect(collected, one.row, one.command, handled)
        if not collected.for_others:
            held = _is_held(handled, sent)
            collected.for_others = not (held or isinstance(one.command, ContinueWork | EndHold))
        if one.row.audit is not None:
            position = one.row.position if one.row.request is None else one.row.request
            _audit(collected, one.command, position, one.row.audit, handled, sent)
        moment = perf_counter()
        if moment - turn > CHECKPOINT_EVERY_S:
            await trio.lowlevel.checkpoint()
            turn = perf_counter()
        if moment - started > COMPUTE_S or processor.is_full():
            break
    if not collected.commands:
        return None, missing
    await _follow_up(processor, collected, fill)
    return await _finish(processor, collected, now), missing


def needs_of_work(root: int) -> list[Need]:
    """The needs of the next quantum of a tree's deferred work."""
    return list(COMMANDS[ContinueWork].needs(ContinueWork(root), ""))


async def run_deferred(
    processor: Processor, root: int, last: int, now: int, fill: Fill, postponed: Callable[[], bool] = lambda: False
) -> BatchResult | None:
    """Run a quantum of a tree's deferred work as a batch without a command. Its rows follow those of `last`.

    When `postponed` after a load, it has its next turn instead, which probably finds the rows in memory.
    """
    collected, rows = _Collected(last=last), processor.run_deferred(root, now)
    for _ in range(QUANTUM_ROUNDS):
        if processor.lacks is None:
            break
        await fill([processor.lacks])
        if postponed():
            return None
        rows = processor.run_deferred(root, now)
    if processor.lacks is not None:
        processor.give_up_deferred(root)
    _collect_more(collected, rows)
    if not collected.log_rows:
        return None
    await _follow_up(processor, collected, fill)
    return await _finish(processor, collected, now)


async def _follow_up(processor: Processor, collected: _Collected, fill: Fill) -> None:
    """Run follow-ups that wait for a load. CPU time limits them, not wall time: the load of other programs must not
    delay outcomes that clients wait for."""
    spent_s = 0.0

    def enough() -> bool:
        return spent_s > FOLLOW_UP_S

    for _ in range(FOLLOW_UP_ROUNDS):
        if not (processor.awaiting_load or processor.held.return_now) or processor.is_full() or enough():
            break
        loaded = await fill([*(need for one in processor.awaiting_load for need in one.needs), *_of_held(processor)])
        turn, began = perf_counter(), thread_time()
        for handled in _resumed(processor, collected, enough, loaded):
            _collect_more(collected, handled)
            if perf_counter() - turn > CHECKPOINT_EVERY_S:
                spent_s += thread_time() - began
                await trio.lowlevel.checkpoint()
                turn, began = perf_counter(), thread_time()
    processor.give_up_awaiting()


def _of_held(processor: Processor) -> Iterator[Need]:
    """The needs of held commands that return in this batch."""
    for one in processor.held.next_ones():
        yield from _declared(one.command, one.tenant)
    yield from processor.held.lacks


def _resumed(
    processor: Processor, collected: _Collected, enough: Callable[[], bool], loaded: Loaded
) -> Iterator[list[Handled]]:
    """The rows of follow-ups, and then of held commands, whose needs have been loaded."""
    yield from processor.resume_awaiting(enough, loaded.left_out)

    def is_loaded(one: InboxCommand) -> bool:
        return loaded.left_out.isdisjoint(_declared(one.command, one.tenant))

    to_inbox = processor.notices.to_inbox
    before = len(to_inbox)
    for one, handled in processor.take_back_held(enough, is_loaded, loaded.leases):
        _count(collected, one.command.intent, one.command, handled[0])
        if one.audit is not None:
            assert one.request is not None, "only a client's command is audited"
            _audit(collected, one.command, one.request, one.audit, handled, to_inbox[before:])
        before = len(to_inbox)
        yield handled


def _process(processor: Processor, one: Decoded, now: int, leases: Leases) -> list[Handled]:
    row = one.row
    if one.rejection is not None and one.command is not None:
        return processor.reject(
            CommandRecord(row.position, row.tenant, one.command, row.request, row.trace), now, one.rejection, leases
        )
    if one.command is None:
        processor.skip(row.position)
        return [Handled(0, None, row.request, [], one.rejection)]
    record = CommandRecord(row.position, row.tenant, one.command, row.request, row.trace)
    return processor.process(record, now, leases)


def _collect(collected: _Collected, row: CommandRow, command: Command | None, handled: list[Handled]) -> None:
    collected.last = row.position
    collected.commands += 1
    _count(collected, row.intent, command, handled[0])
    _collect_more(collected, handled)


def _count(collected: _Collected, intent: str, command: Command | None, first: Handled) -> None:
    """Count a command by its outcome, and note the jobs on whose leases it depends."""
    outcome = REJECTED if first.rejection is not None else FORWARDED if first.forwarded else ACCEPTED
    collected.counted[intent, outcome] += 1
    if isinstance(command, ChangeIfMatch) and first.rejection is None:
        collected.untaken += command.untaken


def _is_held(handled: list[Handled], sent: list[InboxCommand]) -> bool:
    """Whether a command has done nothing but begin to wait for a hold."""
    return len(handled) == 1 and not handled[0].events and any(one.held_by is not None for one in sent)


def _audit(
    collected: _Collected,
    command: Command | None,
    position: int,
    record: str,
    handled: list[Handled],
    sent: Iterable[InboxCommand],
) -> None:
    """Collect the record of a command of a client's request. It goes along with the command, among those that this one
    has `sent`, if another partition handles it, or if it has to wait."""
    for each in sent:
        if each.command is command or (each.again and each.request == position):
            each.audit = record
            return
    response = next((msgspec.json.encode(each.response) for each in handled if each.response is not None), None)
    collected.audited.append(AuditedCommand(record, position, handled[0].rejection is not None, response))


def _collect_more(collected: _Collected, handled: list[Handled]) -> None:
    position = collected.last
    for one in handled:
        response = None
        if one.answered:
            response = EMPTY_ANSWER if one.response is None else msgspec.json.encode(one.response)
        collected.log_rows.append(save.log_row(position, one, response))
        rejected = one.rejection is not None and one.seq == 0 and one.request is None
        if one.answered or rejected:
            to = position if one.request is None else one.request
            stored = None if one.response is None else response
            collected.outcomes.append(CommandOutcome(to, one.rejection, stored, one.response))
            if one.answered and one.rejection is not None:
                collected.refused.add(to)


def _audit_calls(collected: _Collected) -> Iterator[Call]:
    """The statements for the audit log. A refusal that comes later than the record of its command corrects it."""
    refused = collected.refused
    if collected.audited:
        last = [each._replace(rejected=each.rejected or each.position in refused) for each in collected.audited]
        yield audit_log.of_commands(last)
    if earlier := refused.difference(each.position for each in collected.audited):
        yield audit_log.refused_later(sorted(earlier))


async def _finish(processor: Processor, collected: _Collected, now: int) -> BatchResult:
    """Close the batch and encode what changed. Other tasks get their turn between tables."""
    state, notices = processor.state, processor.notices
    processor.notices = Notices()
    for position, bug in notices.poisoned:
        log.error("handling a command raised: it was undone and rejected", position=position, exc_info=bug)
    sent = (one for one in notices.to_inbox if one.partition > 0)  # the others are held
    inboxes = {one.partition for one in sent if not processor.will_continue(one.command)}
    if processor.several:
        inboxes |= {move.to for move in slot_moves(state) if move.to}
    roots = batches.close(state)
    moves = save.moves_definitions(state)
    rows = RowsByType(state)
    ready = rows.ready_jobs() if notices.available else {}
    place = 0
    calls, turn = [save.require_untaken(collected.untaken)] if collected.untaken else [], perf_counter()
    for call in save.statements_of(
        state, rows, collected.log_rows, notices.to_inbox, now, notices.released, notices.returned
    ):
        if call[0] is NEW_JOBS:
            place = len(calls)
        calls.append(call)
        if perf_counter() - turn > CHECKPOINT_EVERY_S:
            await trio.lowlevel.checkpoint()
            turn = perf_counter()
    calls += _audit_calls(collected)
    state.begin_batch()
    return BatchResult(
        collected.last,
        state.next_key,
        collected.commands,
        collected.for_others,
        calls,
        roots,
        notices,
        collected.outcomes,
        moves,
        inboxes,
        collected.counted,
        now,
        NewJobsOfBatch(ready, place) if ready else None,
    )
