"""Recording of changes in the audit log. The record of a change belongs to the transaction that makes the change."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import islice

import msgspec
import structlog

from vivero.api.callers.audited import Audited
from vivero.api.callers.caller import Caller
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request, parse_key
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.core.partitions.tenants import joined
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import FAIL, AuditRecord
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

Handler = Callable[[Request, Services], Awaitable[Response]]

ACTORS: Mapping[str, str] = {"USER": "USER", "CLIENT": "CLIENT", "TOKEN": "CLIENT", "ANONYMOUS": "ANONYMOUS"}
"""Kind of a caller → type of the actor. API tokens stand for clients."""
MAX_TEXT = 300
REJECTED = (403, 404, 409)
"""The statuses of rejected attempts that are recorded. Requests that cannot be parsed (400) are not attempts."""


def record(
    audited: Audited,
    caller: Caller,
    address: str,
    method: str,
    path: str,
    ids: Mapping[str, str],
    tenants: Tenants,
    tool: str | None = None,
) -> AuditRecord:
    """The record of an attempt. `ids`: the parameters of the path: the tenant of an entity, the entity itself, and the
    member of a role or group. `tenants`: those that the caller may use. `tool`: that of an agent.

    The description has method and path: these have no secrets, in contrast to bodies.
    """
    tenant = ids.get("tenantId") if audited.entity != "TENANT" else None
    named = (id for name, id in ids.items() if tenant is None or name != "tenantId")
    entity, member = (*map(_shown, islice(named, 2)), None, None)[:2]
    return AuditRecord(
        ACTORS[caller.kind],
        _shown(caller.id),
        audited.category,
        audited.entity,
        audited.operation,
        entity,
        None if entity is None else parse_key(entity),
        address or None,
        _shown(f"{method} {path}"),
        audited.related,
        member,
        None if tenant is None else _shown(tenant),
        tenants=None if tenants is None else joined(tenants),
        actor_provider=caller.provider,
        tool=tool,
    )


def _shown(text: str) -> str:
    """The beginning of the text, without characters that cannot be printed."""
    return _printable(text[:MAX_TEXT])


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def record_of(request: Request, entity_key: str | None = None) -> AuditRecord | None:
    """The record of a request whose change is recorded, with the reason that its caller gives.

    `entity_key`: the id of a new entity, of which the path has at most the tenant.
    """
    if request.audited is None:
        return None
    ids = request.params if entity_key is None else {**_tenant_of(request), "": entity_key}
    made = record(
        request.audited,
        request.caller,
        request.owner,
        request.method,
        request.path,
        ids,
        request.tenants,
        request.tool,
    )
    if request.note is None:
        return made
    return msgspec.structs.replace(made, description=f"{made.description}: {_printable(request.note)}")


def _tenant_of(request: Request) -> dict[str, str]:
    return {name: id for name, id in request.params.items() if name == "tenantId"}


def of_command(request: Request) -> str | None:
    """The record that a request's command carries; None without one."""
    found = record_of(request)
    return None if found is None else audit_log.encode(found)


@asynccontextmanager
async def changing(request: Request, services: Services, entity_key: str | None = None) -> AsyncGenerator[Connection]:
    """A connection in a transaction for an administrative change, which ends with its record."""
    async with services.reads.pool.connection() as connection, connection.transaction():
        yield connection
        made = record_of(request, entity_key)
        if made is not None:
            await audit_log.add(connection, made)


async def attempt(handler: Handler, request: Request, services: Services) -> Response:
    """Run a handler whose change is recorded. If it rejects the request, that is recorded, too.

    Commands that the engine rejects are recorded by their batch: their problems have a position.
    """
    try:
        return await handler(request, services)
    except Problem as problem:
        failed = record_of(request)
        if failed is not None and problem.status in REJECTED and "commandPosition" not in problem.members:
            await note_failure(services, failed)
        raise


async def note_failure(services: Services, failed: AuditRecord) -> None:
    """Record a rejected attempt. It changed nothing, so an outage of the database does not change the answer."""
    try:
        async with services.reads.pool.connection() as connection:
            await audit_log.add(connection, failed, FAIL)
    except StorageError as error:
        log.warning("cannot record a rejected attempt", operation=failed.operation, error=describe(error))
