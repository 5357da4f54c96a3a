"""The argument of a handler: its execution and, for Trio functions, the transaction that ends the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import msgspec

from vivero.engine.jobs.definitions import RescheduleAt
from vivero.engine.tracing.current import CURRENT
from vivero.storage.background import job_executions
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.driver import Connection, Params

Connections = Callable[[], AbstractAsyncContextManager[Connection]]
"""Lends a connection for a block."""


class LeaseLost(Exception):
    """Another node has the run, because this node sent no heartbeat for too long. Its writes are rolled back."""


@dataclass(slots=True)
class Execution:
    """One run of a job, as asyncio functions and plain functions see it.

    They run at least once: a node may die after their work and before that is recorded.
    """

    _run: Run

    @property
    def run(self) -> Run:
        """The row of the execution."""
        return self._run

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def idempotency_key(self) -> str:
        """An idempotency key for calls of other systems. All attempts of one run share it."""
        return f"{self._run.id}-{self._run.occurrence}"

    @property
    def lease(self) -> str:
        """The lease of this attempt."""
        return self._run.lease

    @property
    def type(self) -> str:
        return self._run.type

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 0."""
        return self._run.attempt

    @property
    def partition(self) -> int | None:
        """The partition that a consumer follows, or that a chore belongs to."""
        return self._run.partition

    @property
    def epoch(self) -> int:
        """The term of the partition. A chore does nothing when another term has begun."""
        return self._run.epoch or 0

    @property
    def occurrence(self) -> int:
        """The number of earlier runs of this execution."""
        return self._run.occurrence

    @property
    def payload(self) -> Any:
        """The JSON document that came with the execution; None without one."""
        return None if self._run.payload is None else msgspec.json.decode(self._run.payload)

    @property
    def trace_context(self) -> dict[str, str]:
        """The W3C trace context of the run, or, without a tracer, of the request that added the execution."""
        if (current := CURRENT.get()) is not None:
            return current.headers
        return {} if self._run.trace_context is None else msgspec.json.decode(self._run.trace_context)


@dataclass(slots=True)
class TransactionalExecution(Execution):
    """One run of a job, as Trio functions see it.

    Everything that `execute` does commits together with the end of the run, exactly once: an attempt that fails, or
    that has lost its lease meanwhile, leaves no trace in the database.
    """

    _connections: Connections
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _connection: Connection | None = None

    async def execute(self, sql: str, params: Params = ()) -> Sequence[tuple[Any, ...]]:
        """Run one SQL statement with parameters `$1`, `$2`, … in the run's transaction; the rows of its result."""
        return (await (await self._opened()).execute(sql, params, prepare=False)).rows

    async def add(
        self, type: str, payload: Any = None, *, at: datetime | None = None, unique_key: str | None = None
    ) -> str:
        """Add an execution of a type, in the run's transaction; its id.

        `at` is a time with a zone, by default now. While another of this type with this key waits or runs, nothing is
        added, and the other's id is returned.
        """
        document = None if payload is None else msgspec.json.encode(payload).decode()
        due_ms = None if at is None else RescheduleAt(at).due_ms(0)
        return await job_executions.add(
            await self._opened(), str(uuid4()), type, document, due_ms, self._run.trace_context, unique_key
        )

    async def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = await self._stack.enter_async_context(self._connections())
            await self._connection.execute("BEGIN")
        return self._connection

    async def end(self, write: Callable[[Connection], Awaitable[bool]]) -> bool:
        """Commit with `write`, which ends the run. False if no transaction is open, and nothing is written.

        Raises:
            LeaseLost: the run is another node's by now. The transaction is rolled back.
        """
        if self._connection is None:
            return False
        if not await write(self._connection):
            raise LeaseLost(self._run.id)
        await self._connection.execute("COMMIT")
        return True

    async def close(self) -> None:
        """Return the connection. The pool closes one whose transaction is open, which rolls it back."""
        await self._stack.aclose()
