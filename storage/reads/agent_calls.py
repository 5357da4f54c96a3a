"""The calls of models by the agents of a process instance or of a process, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

_of_tenants = TenantStatements(__file__)


class AgentCall(NamedTuple):
    """A call that has ended. `cost`: millionths of `currency`; None: the model had no price."""

    id: str
    job: int
    element: str
    element_instance: int
    ended_at: datetime
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


class ElementCalls(NamedTuple):
    """The sums of the calls of one element. `failed`: those without an answer."""

    element: str
    currency: str
    calls: int
    failed: int
    input: int
    output: int
    cached: int
    cost: Decimal | None


class ModelCalls(NamedTuple):
    """The sums of the calls of one model by one element, in `instances` process instances."""

    calls: ElementCalls
    model: str
    instances: int


async def of_instance(
    connection: Connection,
    instance: int,
    after: str | None,
    limit: int,
    tenants: Tenants = None,
    *,
    element: str | None = None,
) -> list[AgentCall]:
    """The calls of an instance, or of one of its elements, the oldest first, behind the call `after`."""
    rows = (await _of_tenants.execute(connection, "of_instance", tenants, instance, after, limit, element)).rows
    return [AgentCall(*row) for row in rows]


class AgentRecord(NamedTuple):
    """An element instance of an agent. `variables`: its own ones, JSON text by name. `headers`: of its latest job."""

    element: str
    element_instance: int
    definition: int
    tenant: str
    job: int
    type: str
    headers: str
    variables: str


async def agents_of(connection: Connection, instance: int, tenants: Tenants = None) -> list[AgentRecord]:
    """The element instances of a process instance whose jobs have called models, in their order."""
    rows = (await _of_tenants.execute(connection, "agents_of", tenants, instance)).rows
    return [AgentRecord(*row) for row in rows]


async def by_element(connection: Connection, instance: int, tenants: Tenants = None) -> list[ElementCalls]:
    """The sums of an instance by its elements."""
    rows = (await _of_tenants.execute(connection, "by_element", tenants, instance)).rows
    return list(map(_sums, rows))


async def by_model(
    connection: Connection, definition: int, begins: datetime, ends: datetime, tenants: Tenants = None
) -> list[ModelCalls]:
    """The sums of a process by its elements and models. `definition`: the key of any of its versions."""
    rows = (await _of_tenants.execute(connection, "by_model", tenants, definition, begins, ends)).rows
    return [ModelCalls(_sums(sums), model, instances) for *sums, model, instances in rows]


def _sums(row: Sequence[Any]) -> ElementCalls:
    return ElementCalls(*row)._replace(cost=None if row[-1] is None else Decimal(row[-1]))
