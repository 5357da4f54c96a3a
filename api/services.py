"""What handlers work with, handed to them by the supervision tree. They know it by these protocols alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from vivero.api.long_polls import LongPolls
from vivero.api.memory_budget import MemoryBudget
from vivero.api.settings import ApiSettings
from vivero.api.waits import Waits
from vivero.engine.bpmn.parser import Parsed
from vivero.engine.bpmn.xml import LIMITS, Limits
from vivero.engine.runtime.appender.task import Append
from vivero.engine.runtime.waiters import End
from vivero.storage.log import Appended, CommandOutcome
from vivero.storage.postgres.driver import Connection


class Appends(Protocol):
    """`engine.runtime.appender.task.Appender`."""

    async def append(self, item: Append, *, deadline_s: float) -> Appended: ...


class OutcomeWaiter(Protocol):
    """Waits for what comes of one command."""

    async def wait(self) -> CommandOutcome: ...


class EndWaiter(Protocol):
    """Waits for the end of one process instance: COMPLETED or TERMINATED.

    Raises:
        NotToldHere: the program is stopping.
    """

    @property
    def value(self) -> End | None: ...

    async def wait(self) -> End: ...


class Completes(Protocol):
    """`engine.runtime.completions.Completions`."""

    def register(self, partition: int, position: int) -> AbstractContextManager[OutcomeWaiter]: ...

    def register_end(self, instance_key: int) -> AbstractContextManager[EndWaiter]: ...


class Pools(Protocol):
    """`storage.postgres.pool.Pool`: one for reads, one for leasing jobs, and one for reading large jobs."""

    def connection(self) -> AbstractAsyncContextManager[Connection]: ...


class KeepsDefinitions(Protocol):
    """`engine.runtime.definitions.DefinitionCache`: keeps the parsed model, so that nobody parses it again."""

    def put(self, sha256: str, parsed: Parsed) -> None: ...


class Health(Protocol):
    """`engine.runtime.supervision.supervisor.Supervisor`: whether every child is healthy."""

    @property
    def healthy(self) -> bool: ...


Chaos = Callable[[str, str], bool]
"""Makes a child (name) "raise", "cancel" or "hang"; whether it was running. KeyError for an unknown name."""


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a handler may use. `chaos` is None unless the program was started with --chaos.

    `clock_changed` wakes whoever waits for a time; None: the clock is not for clients to set. `node` is the name that
    the program leads partitions with; `limits` are those of files and of expressions.
    """

    appender: Appends
    completions: Completes
    definitions: KeepsDefinitions
    pool: Pools
    leasing: Pools
    large_jobs: Pools
    long_polls: LongPolls
    status: Health
    settings: ApiSettings
    chaos: Chaos | None = None
    clock_changed: Callable[[], None] | None = None
    node: str = "node"
    limits: Limits = LIMITS
    waits: Waits = field(default_factory=lambda: Waits(ApiSettings().max_waiting))
    pages: MemoryBudget = field(default_factory=lambda: MemoryBudget(ApiSettings().pages_bytes))
    """For the large pages of searches."""
