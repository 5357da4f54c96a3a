"""A route of the REST API: its handler, who may use it, and how it is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

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
    """Permissions that are enough for some requests. If not for all, the handler checks which (`require_by_key`)."""
    audited: Audited | None = None
    """The audit log's form of what the route changes; None for a route that only reads, or is `unrecorded`."""
    unrecorded: bool = False
    """Whether it changes something that the audit log does not show: leases of jobs, and faults for tests."""
    has_dry_run: bool = False
    """Whether a request with `dryRun` changes nothing. All other routes that change something refuse it."""
    is_conditional: bool = False
    """Whether `If-Match` names versions of an instance tree. All other routes that change something refuse it."""
    parameters: frozenset[str] = frozenset()
    """Query parameters of a route that changes something, beside `wait` and `dryRun`. It refuses all others."""
    owns_query: bool = False
    """Whether no parameter of its query is the API's, nor a condition: the model of a webhook reads them."""
    of_no_tenant: bool = False
    """Whether it is for callers with all tenants only, because it shows or changes what concerns every tenant."""

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.audited is not None or self.unrecorded


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
    is_conditional: bool = False,
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
        is_conditional=is_conditional,
    )


of_tree = partial(of_key, is_conditional=True)
"""A route that changes the instance tree to which the resource in its path belongs."""


def exports(path: str, export: Callable[[Need], Handler], needs: Need) -> tuple[Route, Route]:
    """The routes of a list as CSV: one for links, and one for searches that are too long for a link.

    `export` makes the handler, which asks for the permission again while it reads.
    """
    handler = export(needs)
    return (
        Route("GET", path, handler, needs, scope=Scope.RESULTS),
        Route("POST", path, handler, needs, scope=Scope.RESULTS),
    )
