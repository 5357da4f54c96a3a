"""Saved views of lists: filters, order and columns under a name. Camunda's API has no such resource."""

from __future__ import annotations

from functools import partial

import msgspec

from vivero.api.access import tenants
from vivero.api.access.audit import changing
from vivero.api.access.needs import READ_INSTANCE, READ_TASK, UPDATE_INSTANCE, UPDATE_TASK, denied, may_use
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import Permission
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, not_found, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import conditions
from vivero.api.search.search_requests import prepare, run
from vivero.api.services import Services
from vivero.storage.access import saved_views
from vivero.storage.access.saved_views import View, ViewOwner
from vivero.storage.search.saved_views import INSTANCES, LISTS, SAVED_VIEWS, TASKS

MAX_NAME = 100
"""Characters of a view's name."""
MAX_QUERY = 4000
"""Characters of a view's query."""
MOST_VIEWS = 200
"""Views of a person."""
MOST_SHARED = 500
"""Shared views of a tenant."""

_READ = {INSTANCES: READ_INSTANCE, TASKS: READ_TASK}
_SHARE = {INSTANCES: UPDATE_INSTANCE, TASKS: UPDATE_TASK}
"""List → the permission, on all processes, to share views of it, and to delete what others have shared."""


class ViewBody(Body, frozen=True):
    resource: str | None = None
    name: str | None = None
    query: str | None = None
    is_shared: bool = False
    tenant_id: str | None = None


_decoder = decoder(ViewBody)


async def save(request: Request, services: Services) -> Response:
    """POST /v2/saved-views {resource, name, query, isShared, tenantId}: save a view, also over one's own of that name.

    200 with its key. 403 if others would see it and the caller may not change what the list shows; 409 for too many.
    """
    body = decode(request, _decoder, services.settings)
    name, query, resource = (body.name or "").strip(), body.query or "", body.resource or ""
    found = Violations()
    found.require("resource", resource)
    found.require("name", name)
    found.longest("name", name, MAX_NAME)
    found.longest("query", query, MAX_QUERY)
    found.check()
    if resource not in LISTS:
        raise unexpected_value(resource, "resource", LISTS)
    if body.is_shared:
        _check_shares(request.caller, resource)
    tenant = tenants.named(request, services, body.tenant_id, "Save View", _READ[resource])
    view = View(tenant, _owner(request.caller), resource, name, query, body.is_shared)
    async with changing(request, services) as connection:
        if not await saved_views.keep_owner(connection, view):
            raise Problem(409, "INVALID_STATE", "There is no such tenant, or the owner of the view was deleted")
        key = await saved_views.save(connection, view, MOST_VIEWS, MOST_SHARED)
        if key is None:
            detail = (
                f"A person has at most {MOST_VIEWS} views, and a tenant {MOST_SHARED} shared ones: delete one first"
            )
            raise Problem(409, "INVALID_STATE", detail)
    return json_response({"savedViewKey": str(key)})


async def search(request: Request, services: Services) -> Response:
    """POST /v2/saved-views/search: one's own views, and the shared ones of lists that one may read."""
    readable = [resource for resource in LISTS if may_use(request.caller, _READ[resource])]
    owner = _owner(request.caller)
    prepared = prepare(request, SAVED_VIEWS, services.settings, ("for caller", (owner, readable)))
    return await run(request, services, prepared, partial(_seen_by, owner))


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/saved-views/{savedViewKey}: one's own view, or a shared one with the permission to share. 204."""
    key = request.key("savedViewKey")
    async with changing(request, services) as connection:
        found = await saved_views.find(connection, key, _owner(request.caller), conditions(request.tenants))
        if found is None or not (found.is_own or (found.is_shared and may_use(request.caller, _READ[found.resource]))):
            raise not_found(SAVED_VIEWS.name, key)
        if not found.is_own:
            _check_shares(request.caller, found.resource)
        await saved_views.delete(connection, key)
    return no_content()


def _seen_by(caller: ViewOwner, item: bytes) -> bytes:
    """A view (JSON) that says whether it is the caller's own, instead of how its owner signs in. Names may be equal."""
    view = msgspec.json.decode(item)
    owner = ViewOwner(view.pop("ownerType"), view["owner"], view.pop("ownerProvider"))
    return msgspec.json.encode(view | {"isOwn": owner == caller})


def _owner(caller: Caller) -> ViewOwner:
    return ViewOwner(caller.kind, caller.id, caller.provider or "")


def _check_shares(caller: Caller, resource: str) -> None:
    """Raise Problem 403 unless the caller may share views of the list."""
    need: Permission = _SHARE[resource]
    if caller.rights.ids(need) is not None:
        raise denied(need)
