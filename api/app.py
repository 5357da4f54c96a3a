"""The API as one ASGI callable. It does not depend on the server and has no lifespan.

The application routes a request, authenticates and authorises its caller, reads its body (up to the route's limit),
calls its handler and sends the response.
Each exception of a handler becomes a problem response: a `Problem`, an error of the storage, or a bug, which is logged.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import structlog
import trio

from vivero.api.access import audit
from vivero.api.access.credentials import PRIVATE
from vivero.api.access.needs import PUBLIC, Need, authorise, check_all_tenants
from vivero.api.access.rates import only_tenant
from vivero.api.access.scopes import restrict
from vivero.api.access.tenants import usable_by
from vivero.api.admission.redirects import without_mark
from vivero.api.callers.audited import Audited
from vivero.api.callers.caller import ANYBODY, Caller
from vivero.api.callers.permissions import Allowed
from vivero.api.commands.inner_requests import TOOL, Answer, InnerRequests
from vivero.api.http import request_ids
from vivero.api.http.decoding import check_json_type
from vivero.api.http.metrics import UNKNOWN
from vivero.api.http.origins import Gate
from vivero.api.http.other_paths import in_version_2, of_physical_tenant
from vivero.api.http.problems import Problem, not_appended, not_computed, too_large
from vivero.api.http.request import (
    ANSWER,
    DECLARED_BYTES,
    FIELDS,
    HAS_LEFT,
    OWNER,
    RELEASE,
    WHOLE_BODY,
    ClientLeft,
    Headers,
    Receive,
    Request,
    Send,
)
from vivero.api.http.request_ids import RequestIds
from vivero.api.http.response import Header, Response
from vivero.api.http.router import Match, Router
from vivero.api.http.storage_problems import StorageProblems, bug
from vivero.api.http.tracing import ROUTE, STATUS, traced
from vivero.api.http1.problems import UnfinishedAnswer
from vivero.api.http1.request import declared_bytes
from vivero.api.routes import ROUTES, Handler, Route, modifiers
from vivero.api.services import Services
from vivero.core.records.codec import UnknownFormat
from vivero.engine.compute.problems import NotComputed
from vivero.engine.outcomes.admission import NotAppended
from vivero.storage.postgres.errors import StorageError, describe

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
SendWhole = Callable[[int, tuple[Header, ...], bytes], Awaitable[None]]

UNDELIVERED_TIMEOUT_S = 5.0
"""Time limit of `Response.undelivered`."""

ROUTER = Router((route.method, route.path, route) for route in ROUTES)
"""All applications of a process have the same routes."""

log = structlog.get_logger(__name__)


def build(services: Services) -> App:
    """The application for these services."""
    services = replace(services, inner=InnerRequests())
    gate = Gate(services.settings)
    answer = partial(_answer, services, ROUTER, gate, StorageProblems())
    services.inner.connect(answer)
    debug = log.debug  # to find the logger for each request costs as much as to route it
    serve, ids = partial(_serve, services, answer, debug), RequestIds()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"this application supports only the scope type 'http', not {scope['type']!r}")
        ids.begin(scope["headers"], scope.get("extensions", {}).get(FIELDS))
        try:
            if services.observing.tracer is None:
                await serve(scope, receive, send)
            else:
                await traced(services.observing.tracer, serve, scope, receive, send)
        finally:
            request_ids.end()

    return app


async def _serve(
    services: Services,
    answer: Answer,
    debug: Callable[..., None],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    began = perf_counter()
    try:
        response = await answer(scope, receive, send)
    except ClientLeft:
        return
    scope[STATUS] = response.status
    route, took_s = scope.get(ROUTE, UNKNOWN), perf_counter() - began
    services.observing.requests.note(scope["method"], route, response.status, took_s)
    debug("request", method=scope["method"], route=route, status=response.status, took_s=took_s)
    id = request_ids.header()
    more = (id,) if services.access.authenticator is None else (id, *PRIVATE)
    answer_whole = scope.get("extensions", {}).get(ANSWER)
    if answer_whole is not None and response.is_whole:
        await answer_whole(response.status, response.headers + more, response.body)
    else:
        await send_response(response, send, more, answer_whole)


async def _answer(
    services: Services,
    router: Router[Route],
    gate: Gate,
    storage_problems: StorageProblems,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> Response:
    """The response, which may show a problem. Raises ClientLeft."""
    path = scope["path"]
    try:
        return await _respond(services, router, gate, scope, receive, send)
    except ClientLeft:
        raise
    except Problem as problem:
        return problem.response(path)
    except NotAppended as error:
        return not_appended(error).response(path)
    except NotComputed as error:
        return not_computed(error).response(path)
    except StorageError as error:
        return storage_problems.problem(error, scope["method"], scope.get(ROUTE, UNKNOWN)).response(path)
    except UnknownFormat as error:
        return Problem(503, "UNAVAILABLE", f"This node cannot read a record of the log: {error}").response(path)
    except Exception:
        log.exception("request handler failed", method=scope["method"], route=scope.get(ROUTE, UNKNOWN))
        return bug().response(path)


async def _respond(
    services: Services, router: Router[Route], gate: Gate, scope: Scope, receive: Receive, send: Send
) -> Response:
    method, (path, raw_path) = scope["method"], of_physical_tenant(scope["path"], scope.get("raw_path"))
    extensions = scope.get("extensions", {})
    fields = extensions.get(FIELDS)
    if fields is None:  # another server
        fields = dict(scope["headers"])
    gate.check(method, scope["headers"], fields)
    match = router.match(path, raw_path)
    if match is None:
        raise Problem(404, "Not Found", f"There is no resource '{path[:200]}'{_hint(router, path)}")
    route = _route(method, match)
    if route is None:
        raise _not_allowed(method, match)
    scope[ROUTE] = route.path
    owner, tool = extensions.get(OWNER), extensions.get(TOOL)
    caller, allowed = ANYBODY, None
    if (services.access.authenticator is not None or services.access.rates is not None) and route.needs is not PUBLIC:
        address = "" if owner is None else owner(scope["headers"])
        caller = await _authenticate(services, route, scope["headers"], address, counts=tool is None)
        if caller.by_session:
            gate.check_session(method, scope["headers"])
        allowed = await _authorise(services, route, caller, address, scope, match.params)
    if route.is_new and not services.commands.appender.admits_new():
        return await services.commands.refusals.answer(path)
    releases = send if RELEASE in extensions else None
    body = b""
    if not route.streams:
        limit = route.max_body_bytes(services.settings)
        received = _received(scope, extensions, limit)
        body = await _read(receive, limit) if received is None else received
        del received
    query, redirected = without_mark(scope["query_string"])
    request = Request(
        method,
        path,
        scope["headers"],
        body,
        query,
        match.params,
        receive,
        releases,
        owner,
        caller,
        allowed,
        redirected,
        raw_path,
        usable_by(caller, services),
        route.audited if route.audited is not None and _is_audited(services, route.audited, caller, tool) else None,
        tool,
        scope.get("scheme", "http"),
        extensions.get(HAS_LEFT),
        fields,
    )
    del body  # the request holds the only reference and may release it
    if b"content-encoding" in fields:
        _check_encoding(request)
    modifiers.check(route, request)
    if request.body and route.takes_json:
        check_json_type(request)
        request.body = request.body.removeprefix(BOM_UTF8)
    if request.audited is not None:
        return await audit.attempt(route.handler, request, services)
    return await route.handler(request, services)


def _route(method: str, match: Match[Route]) -> Route | None:
    """The route of a method. HEAD is safe (RFC 9110, section 9.2.1): it stands for a GET that changes nothing."""
    if method != "HEAD":
        return match.methods.get(method)
    route = match.methods.get("GET")
    return None if route is None or route.is_new or route.audited is not None else route


async def _authenticate(services: Services, route: Route, headers: Headers, address: str, *, counts: bool) -> Caller:
    """The caller, within the rate limits of itself and of its only tenant. Raises Problem: 401, 429.

    `counts`: whether the request counts for these limits. Those of a tool's call do not: the call does.
    """
    authenticator, rates = services.access.authenticator, services.access.rates
    caller = ANYBODY if authenticator is None else await authenticator.authenticate(headers, address)
    if rates is not None and route.is_limited and counts:
        rates.check((caller.kind, caller.id) if authenticator is not None else address)
        tenant = only_tenant(caller, services.access.multi_tenancy)
        if tenant is not None:
            rates.check_tenant(tenant)
    return caller


async def _authorise(
    services: Services, route: Route, caller: Caller, address: str, scope: Scope, parameters: Mapping[str, str]
) -> Allowed | None:
    """The resources for which the caller has the route's permission; None: all.

    Raises Problem: 403, which is recorded if the change itself would be.
    """
    try:
        allowed = await _allowed_by_any(services, route, caller, parameters)
        if route.of_no_tenant:
            check_all_tenants(usable_by(caller, services), route.needs)
        return allowed
    except Problem:
        tool = scope.get("extensions", {}).get(TOOL)
        if route.audited is not None and _is_audited(services, route.audited, caller, tool):
            tenants, path = usable_by(caller, services), scope["path"]
            denied = audit.record(route.audited, caller, address, scope["method"], path, parameters, tenants, tool)
            await audit.note_failure(services, denied)
        raise


async def _allowed_by_any(
    services: Services, route: Route, caller: Caller, parameters: Mapping[str, str]
) -> Allowed | None:
    """The resources for which the caller has the route's permission, or else that for a part of the route."""
    try:
        return await _allowed(services, route, route.needs, caller, parameters)
    except Problem as problem:
        for need in route.needs_for_parts:
            with suppress(Problem):
                return await _allowed(services, route, need, caller, parameters)
        raise problem


async def _allowed(
    services: Services, route: Route, need: Need, caller: Caller, parameters: Mapping[str, str]
) -> Allowed | None:
    allowed = authorise(caller, need)
    if allowed is None:
        return None
    return await restrict(services, route.scope, allowed, parameters, usable_by(caller, services))


def _is_audited(services: Services, audited: Audited, caller: Caller, tool: str | None) -> bool:
    """Whether the change is recorded. Those of agents always are."""
    return tool is not None or services.access.audit.records(audited, caller)


def _hint(router: Router[Route], path: str) -> str:
    """A hint for people who use a browser or omit the version, and for clients of version 1."""
    newer = in_version_2(path)
    if newer is not None and router.match(newer) is not None:
        return f"; version 1 of the API is not served, use {newer[:200]}"
    return "" if path.startswith("/v2/") and len(path) > len("/v2/") else "; the REST API is below /v2: /v2/topology"


def _received(scope: Scope, extensions: Mapping[str, Any], limit: int) -> bytes | None:
    """The whole body; None if it has not arrived. Raises Problem 413, also for a declared length that is too much."""
    declared = extensions.get(DECLARED_BYTES)
    if declared is None:  # another server
        declared = declared_bytes(scope["headers"])
    if declared > limit:
        raise too_large(limit)
    if WHOLE_BODY not in extensions:
        return None
    whole: bytes | None = extensions[WHOLE_BODY]()
    if whole is not None and len(whole) > limit:
        raise too_large(limit)
    return whole


async def _read(receive: Receive, limit: int) -> bytes:
    """The whole body, as it arrives. Raises ClientLeft, and Problem 413."""
    parts, size = [], 0
    message = await receive()
    while message["type"] == "http.request":
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise too_large(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()
    raise ClientLeft


async def send_response(
    response: Response, send: Send, more: tuple[Header, ...] = (), answer: SendWhole | None = None
) -> None:
    """Send a response with `more` headers. If that fails, undo its effects.

    `answer`: the server's function that sends a whole response at once, if it has one.
    """
    headers = response.headers + more
    try:
        if answer is not None and response.rest is None and response.more_bytes == 0:
            await answer(response.status, headers, response.body)
            return
        if response.status != 204 and response.more_bytes is not None:
            headers += ((b"content-length", b"%d" % (len(response.body) + response.more_bytes)),)
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        if response.rest is not None:
            await _send_streaming(response.body, response.rest, send)
            return
        await send({"type": "http.response.body", "body": response.body})
    except BaseException:
        if response.undelivered is not None:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + UNDELIVERED_TIMEOUT_S):
                await response.undelivered()
        raise


async def _send_streaming(first: bytes, rest: AsyncGenerator[bytes], send: Send) -> None:
    """Send a body whose rest is read meanwhile. An error leaves it incomplete, and the server closes the connection.

    Raises UnfinishedAnswer if the caller has lost its rights, or storage fails.
    """
    async with aclosing(rest):
        await send({"type": "http.response.body", "body": first, "more_body": True})
        try:
            async for part in rest:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except (Problem, StorageError) as error:
            log.warning("an answer ends before its end", why=describe(error))
            raise UnfinishedAnswer from error
    await send({"type": "http.response.body", "body": b""})


def _check_encoding(request: Request) -> None:
    encoding = request.header(b"content-encoding") or ""
    if encoding.lower() not in ("", "identity"):
        detail = f"Content-Encoding '{encoding[:100]}' is not supported; send the content without an encoding"
        raise Problem(415, "Unsupported Media Type", detail, (b"accept-encoding", b"identity"))


def _not_allowed(method: str, match: Match[Route]) -> Problem:
    allowed = ", ".join(match.methods).encode()
    return Problem(405, "Method Not Allowed", f"Request method '{method[:20]}' is not supported", (b"allow", allowed))


__all__ = ["App", "Handler", "build", "send_response"]
