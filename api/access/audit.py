"""Audit lines: who changed users, roles or grants, from where. They are lines of the server's log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from vivero.api.request import Request
from vivero.api.response import Response
from vivero.api.services import Services

log = structlog.get_logger(__name__)

Handler = Callable[[Request, Services], Awaitable[Response]]


def audited(handler: Handler) -> Handler:
    """A handler that logs each change once it is committed. The path names what changed; the body may have secrets."""

    async def handle(request: Request, services: Services) -> Response:
        response = await handler(request, services)
        caller = request.caller
        log.info(
            "administrative change",
            actor_type=caller.kind,
            actor=caller.id,
            address=request.owner,
            method=request.method,
            path=request.path,
            status=response.status,
        )
        return response

    return handle
