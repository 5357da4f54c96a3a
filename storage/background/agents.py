"""Tables of AI agents: answers that were paid, usage within budgets, and what is stopped (docs/agents.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

WHOLE_LIFE, TODAY = "-infinity", "today"
"""The days of budgets: of one that is not for one day, and of one that is for the current day of the database (UTC)."""


class Budget(NamedTuple):
    """A budget: of an instance, of a process on a day, or of a tenant on a day (`process_id` empty). 0: no limit."""

    name: str
    tenant: str
    process_id: str
    instance: int
    day: str
    max_calls: int
    max_tokens: int
    max_cost: int = 0
    """Millionths of the operator's currency."""

    @property
    def _key(self) -> tuple[str, str, int, str]:
        return self.tenant, self.process_id, self.instance, self.day


class Exceeded(Exception):
    """A reservation would exceed a budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget


class CallRecord(NamedTuple):
    """A call of a model that has ended. `cost`: millionths of `currency`; None: the model has no price.

    `input`, `output` and `cached` are tokens; None: the provider does not say. `outcome`: ANSWERED, or an error's code.
    """

    call: str
    turn: int
    cause: str
    duration_ms: int
    provider: str
    model: str
    outcome: str
    request_digest: str
    answer_digest: str | None
    input: int | None
    output: int | None
    cached: int | None
    cost: int | None
    currency: str
    offered: Sequence[str]
    called: Sequence[str]


class AgentStop(NamedTuple):
    """Agents that may call no model. An empty text means every one."""

    tenant: str
    process_id: str
    model: str


async def find_answer(connection: Connection, job: int, digest: str) -> str | None:
    """The answer to a request of a job; None if there is none."""
    rows = (await connection.execute(_sql["find_answer"], (job, digest))).rows
    return rows[0][0] if rows else None


async def keep_answer(connection: Connection, job: int, digest: str, tenant: str, answer: str) -> None:
    """Keep an answer of an open job. Answers of jobs of its instance that have ended are deleted."""
    await connection.execute(_sql["keep_answer"], (job, digest, tenant, answer))


async def reserve(connection: Connection, budgets: Sequence[Budget], tokens: int, cost: int = 0) -> list[Budget]:
    """Reserve one call with these tokens and this cost in all budgets, in the caller's transaction.

    Gives the budgets with their days.

    Raises Exceeded, after which the transaction rolls back.
    """
    reserved = []
    for budget in budgets:
        values = (*budget._key, tokens, budget.max_calls, budget.max_tokens, cost, budget.max_cost)
        rows = (await connection.execute(_sql["reserve"], values)).rows
        if not rows:
            raise Exceeded(budget)
        ((calls, day),) = rows
        if calls == 1 and budget.day == TODAY:
            await connection.execute(_sql["forget_usage"])
        reserved.append(budget._replace(day=day))
    return reserved


async def settle(connection: Connection, budgets: Sequence[Budget], tokens: int, cost: int = 0) -> None:
    """Count the differences between reported and reserved tokens and cost, in the caller's transaction."""
    for budget in budgets:
        await connection.execute(_sql["settle"], (*budget._key, tokens, cost))


async def record(connection: Connection, job: int, call: CallRecord) -> None:
    """Record a call of a job. Nothing is recorded if the instance was deleted meanwhile."""
    await connection.execute(_sql["record_call"], (job, *call[:-2], list(call.offered), list(call.called)))


async def stops(connection: Connection) -> list[AgentStop]:
    """All that is stopped."""
    return [AgentStop(*row) for row in (await connection.execute(_sql["stops"])).rows]


async def stop(connection: Connection, which: AgentStop) -> bool:
    """Stop these agents. False if they are stopped already."""
    return bool((await connection.execute(_sql["stop"], tuple(which))).rows)


async def resume(connection: Connection, which: AgentStop) -> bool:
    """Let these agents go on. False if exactly these were not stopped."""
    return bool((await connection.execute(_sql["resume"], tuple(which))).rows)
