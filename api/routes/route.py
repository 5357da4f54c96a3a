"""A route of the REST API: its handler, who may use it, and how it is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vivero.api.access.needs import Need
from vivero.api.access.scopes import Scope
from vivero.api.callers.audited import Audited
from vivero.api.callers.permissions import Permission
from vivero.api.http.decoding import MAX_BYTES
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.api.settings import ApiSettings

Handler = Callable[[Request, Services], Awaitable[Response]]


def plain_limit(settings: ApiSettings) -> int:
    """Bytes of a body without variables."""
    return min(MAX_BYTES, settings.max_body_bytes)


def variables_limit(settings: ApiSettings) -> int:
    """Bytes of a body with variables, and of a call of a webhook."""
    return settings.max_body_bytes


def deployment_limit(settings: ApiSettings) -> int:
    """Bytes of a body with files."""
    return settings.max_deployment_bytes


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `{name}` in the path matches one segment. `needs` has no default: every route says who may use it."""

    method: str
    path: str
    handler: Handler
    needs: Need
    max_body_bytes: Callable[[ApiSettings], int] = plain_limit
    """The most bytes of a body. A larger one gets 413 before it is read, or while it arrives in chunks."""
    takes_json: bool = True
    streams: bool = False
    """Whether the handler reads the body as it arrives (`Request.chunks`), with a limit of its own."""
    is_new: bool = False
    """Whether its command creates work, and is refused while the engine has too much to do."""
    is_limited: bool = True
    """Whether it counts for the rate limit of its client. Work that ends makes room for other work."""
    scope: Scope = Scope.EVERYTHING
    """The behaviour for a caller that has the permission for some resources only."""
    needs_for_parts: tuple[Permission, ...] = ()
    """Permissions that are enough for some requests. The handler checks which (`require_by_key`)."""
    audited: Audited | None = None
    """How the audit log shows what the route changes; None for a route that only reads, and for job activation."""
    has_dry_run: bool = False
    """Whether a request with `dryRun` changes nothing. All other routes that change something refuse it."""
    owns_query: bool = False
    """Whether no parameter of its query is the API's: the model of a webhook reads them."""
    of_no_tenant: bool = False
    """Whether it is for callers with all tenants only, because it shows or changes what concerns every tenant."""


def of_key(
    method: str,
    path: str,
    handler: Handler,
    needs: Need,
    audited: Audited | None = None,
    *,
    is_limited: bool = True,
    needs_for_parts: tuple[Permission, ...] = (),
    max_body_bytes: Callable[[ApiSettings], int] = plain_limit,
    has_dry_run: bool = False,
) -> Route:
    """A route of the one resource whose key is in the path. The caller needs the permission for this resource only."""
    return Route(
        method,
        path,
        handler,
        needs,
        max_body_bytes,
        is_limited=is_limited,
        scope=Scope.KEY,
        needs_for_parts=needs_for_parts,
        audited=audited,
        has_dry_run=has_dry_run,
    )
