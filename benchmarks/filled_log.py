"""A log of creations and completions of the measured process, filled beforehand, for the consumer alone.

The log has the keys that the jobs will have: keys are given out in order, so they are known. Completions come some
instances after their creations, so that both kinds are mixed and a batch does not see its own jobs only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from uuid import uuid4

import trio

from benchmarks.model import CREATE, DEPLOY, ONE_TASK
from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import parse
from vivero.core.execution.outcomes import Ended
from vivero.core.memory import MemoryEngine
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.codec import encode_command
from vivero.core.records.jobs import CompleteJob
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs
from vivero.engine.definitions.decisions import DecisionCache
from vivero.engine.definitions.file_cache import FileCache
from vivero.storage.log import command_log
from vivero.storage.log.command_log import CommandOutcome, LogEntry
from vivero.storage.postgres.driver import Connection


def _no_connection() -> AbstractAsyncContextManager[Connection]:
    raise AssertionError("no decisions are loaded ahead")


class Models:
    """The definition cache, with the one process in it."""

    hits = 0

    def __init__(self) -> None:
        self.decisions = DecisionCache(FileCache(1, 1), _no_connection)
        self._processes = {process.id: process for process in parse(ONE_TASK, "one_task.bpmn").processes}

    async def resource(self, sha256: str, _connection: Connection) -> Mapping[str, Process]:
        return self._processes

    def resource_nowait(self, sha256: str) -> Mapping[str, Process]:
        return self._processes


class Progress:
    """Hears of commits; knows when the log is worked off."""

    def __init__(self, last: int) -> None:
        self.done = trio.Event()
        self.rejected = 0
        self._last = last

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        self.rejected += sum(outcome.rejection is not None for outcome in outcomes)
        if watermark >= self._last:
            self.done.set()

    def available(self, type: str, tenant: str, count: int) -> None:
        pass

    def lease_new(self, jobs: NewJobs, now_ms: int) -> Sequence[NewJobLeases]:
        return ()

    def inbox_filled(self, partition: int) -> None:
        pass

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        pass

    def leads(self, partition: int, epoch: int) -> None:
        pass


def commands(instances: int, lag: int) -> Sequence[Command]:
    """The deployment, then the creations, and the completions `lag` instances later."""
    found: list[Command] = [DEPLOY]
    key, jobs = _key_after_deployment(), []
    keys_per_create, job_offset, keys_per_completion = _keys_of_an_instance()
    for number in range(instances + lag):
        if number < instances:
            found.append(CREATE)
            jobs.append(key + job_offset)
            key += keys_per_create
        if number >= lag:
            found.append(CompleteJob(jobs[number - lag]))
            key += keys_per_completion
    return found


async def append(connection: Connection, commands: Sequence[Command], size: int) -> int:
    """Append the commands to a new database's log, `size` in each transaction. Returns the last position."""
    session, last = await command_log.begin(connection, uuid4(), 1), 0
    for first in range(0, len(commands), size):
        entries = [
            LogEntry(DEFAULT_TENANT, command.intent, encode_command(command))
            for command in commands[first : first + size]
        ]
        last = (await command_log.append(connection, session, 1, uuid4(), None, entries))[-1].position
    return last


def _key_after_deployment() -> int:
    engine = MemoryEngine()
    engine.deploy(ONE_TASK)
    return engine.state.next_key


def _keys_of_an_instance() -> tuple[int, int, int]:
    """The numbers of keys that a creation and a completion take, and the place of the job's in the creation's."""
    engine = MemoryEngine()
    engine.deploy(ONE_TASK)
    before = engine.state.next_key
    engine.run(CREATE)
    (job,) = engine.state.jobs
    between = engine.state.next_key
    engine.run(CompleteJob(job))
    return between - before, job - before, engine.state.next_key - between
