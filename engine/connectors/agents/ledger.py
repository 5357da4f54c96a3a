"""The ledger of agents in PostgreSQL: paid answers, budgets, and the kill switch.

A call reserves its budget before it is made. If the ledger cannot be read or written, no call is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

import structlog
import trio

from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import TokenUsage
from vivero.core.agents.model import CHARACTERS_PER_TOKEN
from vivero.core.agents.wires.prices import MILLIONTHS, Price, Prices
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents.model_calls import PreparedCall
from vivero.engine.connectors.work.agent_figures import AgentFigures
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.storage.background import agents
from vivero.storage.background.agents import TODAY, WHOLE_LIFE, AgentStop, Budget, CallRecord, Exceeded
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

Connections = Callable[[], AbstractAsyncContextManager[Connection]]

T = TypeVar("T")

BUDGET_EXCEEDED = "AGENT_BUDGET_EXCEEDED"
STOPPED = "AGENTS_STOPPED"
NO_LEDGER = "AGENT_LEDGER_UNAVAILABLE"
LOOK_S = 1.0
"""The interval in which a call that runs looks whether agents were stopped."""
PAUSE_S = 30.0
"""The pause of a job whose agents are stopped, before it is tried again."""
MOST_TOKENS = 2**40
OUTPUT_TOKENS = 4096
"""Reserved for an answer whose length the model does not limit."""
_LIMITS = ("max_tokens", "max_completion_tokens", "maxTokens")


class Stopped(AgentError):
    """The operator has stopped these agents. The job loses no retry, and is tried again after a pause."""

    pause_ms = round(PAUSE_S * 1000)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The reservation of one call. `cost`: millionths of the currency, 0 without a price."""

    tokens: int
    cost: int
    price: Price | None
    budgets: Sequence[Budget] = ()

    def cost_of(self, usage: TokenUsage | None) -> int | None:
        """The cost of the call. None: the model has no price."""
        if self.price is None:
            return None
        return self.cost if usage is None else self.price.cost(usage)


class Ledger:
    """The ledger of a node."""

    def __init__(
        self, connections: Connections, settings: AgentSettings, prices: Prices, figures: AgentFigures
    ) -> None:
        self._connections, self._settings, self._prices, self._figures = connections, settings, prices, figures
        self._stops: list[AgentStop] = []
        self._looked_at = float("-inf")
        self._lock = trio.Lock()

    async def find(self, job: ConnectorJob, call: PreparedCall) -> bytes | None:
        """The answer that this request of this job got before. Raises AgentError."""
        with _available():
            async with self._connections() as connection:
                found = await agents.find_answer(connection, int(job.job_key), call.digest)
        return None if found is None else found.encode()

    # -- budgets

    async def reserve(self, job: ConnectorJob, call: PreparedCall) -> Reservation:
        """Reserve a call, its tokens and its cost. Raises AgentError if a budget would be exceeded."""
        made, budgets = self._estimate(call), self._budgets(job)
        if any(budget.max_cost for budget in budgets) and made.price is None:
            text = (
                f"agents.prices_file has no price for the model '{call.provider.model}', and a budget limits its cost"
            )
            raise AgentError(BUDGET_EXCEEDED, text)
        if budgets:
            with _available():
                try:
                    async with self._connections() as connection, connection.transaction():
                        budgets = await agents.reserve(connection, budgets, made.tokens, made.cost)
                except Exceeded as error:
                    raise _exceeded(error.budget, made) from None
        return replace(made, budgets=budgets)

    async def settle(
        self,
        job: ConnectorJob,
        reserved: Reservation,
        usage: TokenUsage | None,
        record: CallRecord,
        answer: bytes | None = None,
    ) -> None:
        """Keep the answer of a call, record the call and count what it has used: all of that, or nothing.

        A call that does not say it counts as its reservation. If an answer is not kept, the call is made again only if
        the node ends before the job does.
        """
        cost = reserved.cost_of(usage)
        record = record._replace(cost=cost, currency="" if cost is None else self._prices.currency)
        if usage is not None:
            cached = usage.cache_read_token_count + usage.cache_creation_token_count
            record = record._replace(input=usage.input, output=usage.output, cached=cached)
        tokens = {"input": record.input, "output": record.output, "cached": record.cached}
        self._figures.count(record.model, record.outcome, tokens, cost, record.currency)
        try:
            async with self._connections() as connection, connection.transaction():
                if answer is not None:
                    key, digest = int(job.job_key), record.request_digest
                    await agents.keep_answer(connection, key, digest, job.tenant_id, answer.decode())
                await agents.record(connection, int(job.job_key), record)  # locks the job first, as deletions do
                if usage is not None:
                    difference = _tokens(usage) - reserved.tokens
                    await agents.settle(connection, reserved.budgets, difference, (cost or 0) - reserved.cost)
        except StorageError as error:
            log.warning("the end of a call of a model could not be stored", job=job.job_key, why=describe(error))

    def _estimate(self, call: PreparedCall) -> Reservation:
        """Tokens that a call may use, and what they cost."""
        limits = [call.provider.parameters.get(name) for name in _LIMITS]
        known = [int(limit) for limit in limits if isinstance(limit, int) and limit > 0]
        output = min(max(known, default=OUTPUT_TOKENS), MOST_TOKENS)
        input, price = len(call.content) // CHARACTERS_PER_TOKEN, self._prices.of(call.provider.model)
        return Reservation(input + output, 0 if price is None else price.at_most(input, output), price)

    def _budgets(self, job: ConnectorJob) -> list[Budget]:
        """The budgets with a limit, in the order in which all calls lock them."""
        given = self._settings
        tenant, process = job.tenant_id, job.process_definition_id or ""
        instance = int(job.process_instance_key or 0)
        made = (
            Budget("instance", tenant, process, instance, WHOLE_LIFE, given.max_calls_per_instance,
                given.max_tokens_per_instance, _millionths(given.max_cost_per_instance)),
            Budget("process", tenant, process, 0, TODAY, 0, given.max_process_tokens_per_day,
                _millionths(given.max_process_cost_per_day)),
            Budget("tenant", tenant, "", 0, TODAY, given.max_calls_per_day, given.max_tokens_per_day,
                _millionths(given.max_cost_per_day)),
        )  # fmt: skip
        return [budget for budget in made if budget.max_calls or budget.max_tokens or budget.max_cost]

    # -- the kill switch

    async def unless_stopped(self, job: ConnectorJob, model: str, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of a call, which is cancelled if the operator stops these agents.

        Raises Stopped, and what the call raises.
        """
        await self._check(job, model)
        answer: T | None = None
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, job, model, nursery.cancel_scope)
            try:
                answer = await call()
            except Exception as error:  # outside of the nursery it is no group
                failure = error
            nursery.cancel_scope.cancel()
        if answer is not None:
            return answer
        if failure is None:
            self._looked_at = float("-inf")
            await self._check(job, model)  # raises, unless they go on already
            failure = Stopped(STOPPED, "the operator has stopped these agents", False)
        raise failure

    async def _watch(self, job: ConnectorJob, model: str, scope: trio.CancelScope) -> None:
        """Cancel a call when its agents are stopped."""
        while True:
            await trio.sleep(LOOK_S)
            try:
                await self._check(job, model)
            except Stopped:
                scope.cancel()
                return
            except AgentError as error:
                log.warning("a call of a model goes on, and nobody knows whether it is stopped", why=describe(error))

    async def _check(self, job: ConnectorJob, model: str) -> None:
        found = (job.tenant_id, job.process_definition_id or "", model)
        for stop in await self._current():
            if all(not named or named == own for named, own in zip(stop, found, strict=True)):
                what = ("the tenant", "the process", "the model")
                named = ", ".join(f"{kind} '{name}'" for kind, name in zip(what, stop, strict=True) if name)
                raise Stopped(
                    STOPPED, f"the operator has stopped {named or 'all agents'}: `vivero agents resume` ends it", False
                )

    async def _current(self) -> list[AgentStop]:
        """The stopped work, not older than the interval: all calls of the node share one look."""
        async with self._lock:
            if trio.current_time() - self._looked_at >= LOOK_S:
                with _available():
                    async with self._connections() as connection:
                        self._stops = await agents.stops(connection)
                self._looked_at = trio.current_time()
            return self._stops


@contextmanager
def _available() -> Generator[None]:
    """The block uses the ledger. Without it no model is called, and the job is tried again."""
    try:
        yield
    except StorageError as error:
        raise AgentError(NO_LEDGER, f"the ledger of agents cannot be used: {error}", final=False) from error


def _millionths(amount: float) -> int:
    """At least one, if there is a limit at all: 0 would be none."""
    return max(round(amount * MILLIONTHS), 1) if amount > 0 else 0


def _tokens(usage: TokenUsage) -> int:
    return usage.input + usage.output + usage.cache_read_token_count + usage.cache_creation_token_count


def _exceeded(budget: Budget, reserved: Reservation) -> AgentError:
    limits = {"calls": budget.max_calls, "tokens": budget.max_tokens, "in money": budget.max_cost / MILLIONTHS}
    known = " and ".join(f"{limit:.15g} {name}" for name, limit in limits.items() if limit)
    of = {"instance": "this process instance", "process": f"the process '{budget.process_id}' for a day"}
    whose = of.get(budget.name, f"the tenant '{budget.tenant}' for a day")
    cost = f", which may cost {reserved.cost / MILLIONTHS:.15g}" if budget.max_cost else ""
    text = f"the budget of {whose} is {known}, and the next call reserves {reserved.tokens} tokens{cost}"
    return AgentError(BUDGET_EXCEEDED, f"{text}: raise it in the settings agents.… and resolve the incident")
