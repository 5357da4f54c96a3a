"""Users, groups, roles, mapping rules, tenants and their members; and grants. One table, `KINDS`, describes them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from vivero.api.access.audit import changing
from vivero.api.access.passwords import hash_in_thread
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import read
from vivero.api.search.search_requests import prepare, run
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import TENANT_ID
from vivero.storage.access import directory, identities
from vivero.storage.access.directory import EntryKind
from vivero.storage.access.identities import LastAdmin
from vivero.storage.postgres.driver import Connection
from vivero.storage.search import directory as searches
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import get_by

Handler = Callable[[Request, Services], Awaitable[Response]]

ID = re.compile(r"[a-zA-Z0-9_~@.+-]{1,256}")
MAX_TEXT = 1024
_TENANT_ID = "tenantId"


class DirectoryBody(Body, frozen=True):
    """The body of a creation or change of any kind. Each kind uses some of the fields."""

    username: str | None = None
    group_id: str | None = None
    role_id: str | None = None
    tenant_id: str | None = None
    mapping_rule_id: str | None = None
    name: str | None = None
    email: str | None = None
    description: str | None = None
    claim_name: str | None = None
    claim_value: str | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """One kind of entries in the API. `members`: the kinds of its members."""

    path: str
    kind: EntryKind
    resource: Resource
    members: tuple[str, ...] = ()

    @property
    def parameter(self) -> str:
        """The name of the id, in paths and bodies."""
        return self.resource.fields[0].name

    @property
    def id_sql(self) -> str:
        return self.resource.fields[0].sql


USERS = Entries("users", directory.USER, searches.USERS)
GROUPS = Entries("groups", directory.GROUP, searches.GROUPS, ("users", "clients", "mapping-rules"))
ROLES = Entries("roles", directory.ROLE, searches.ROLES, ("users", "clients", "groups", "mapping-rules"))
TENANTS = Entries(
    "tenants", directory.TENANT, searches.TENANTS, ("users", "clients", "groups", "roles", "mapping-rules")
)
MAPPING_RULES = Entries("mapping-rules", directory.MAPPING_RULE, searches.MAPPING_RULES)
KINDS = (USERS, GROUPS, ROLES, TENANTS, MAPPING_RULES)


@dataclass(frozen=True, slots=True)
class Members:
    """One kind of members: its segment of paths, its type, the name of its id; `entries` without users and clients."""

    path: str
    type: str
    parameter: str
    entries: Entries | None = None
    shown: Resource | None = None


MEMBERS = {
    each.path: each
    for each in (
        Members("users", "USER", "username"),
        Members("clients", "CLIENT", "clientId"),
        Members("groups", "GROUP", "groupId", GROUPS),
        Members("roles", "ROLE", "roleId", ROLES, searches.ROLES),
        Members("mapping-rules", "MAPPING_RULE", "mappingRuleId", MAPPING_RULES, searches.MAPPING_RULES),
    )
}

_decoder = decoder(DirectoryBody)
_OF_KIND = {
    "USER": ("name", "email", "password"),
    "GROUP": ("name", "description"),
    "ROLE": ("name", "description"),
    "TENANT": ("name", "description"),
    "MAPPING_RULE": ("name", "claim_name", "claim_value"),
}
_REQUIRED = {"MAPPING_RULE": ("name", "claim_name", "claim_value"), "USER": ()}


def creating(entries: Entries) -> Handler:
    """POST /v2/{kind}: create an entry."""
    field = entries.kind.id

    async def create(request: Request, services: Services) -> Response:
        body = _body(request, services, entries, (field,))
        id = getattr(body, field)
        _check_id(entries.parameter, id)
        more = {}
        if entries is USERS:
            more["password_hash"] = await _hashed(body.password)
        values = _values(entries.kind, body)
        async with changing(request, services, id) as connection:
            if not await directory.create(connection, entries.kind, id, values, **more):
                raise _conflict(f"{entries.resource.name} with id '{id}', or with the same claim, exists already")
        return json_response(_document(entries, id, body), status=201)

    return create


async def create_first_admin(request: Request, services: Services) -> Response:
    """POST /v2/setup/user: create the first administrator. 403 if there is one.

    With authentication the first start has made one, so that no stranger can.
    """
    if services.access.authenticator is not None:
        raise _has_admin()
    body = _body(request, services, USERS, ("username",))
    username = body.username or ""
    _check_id(USERS.parameter, username)
    password_hash = await _hashed(body.password)
    async with changing(request, services, username) as connection:
        done = await identities.create_admin_if_none(connection, username, password_hash, body.name, body.email)
        if done == "exists":
            raise _has_admin()
        if done == "taken":
            raise _conflict(f"User with username '{username}' exists already")
    return json_response(_document(USERS, username, body), status=201)


def _has_admin() -> Problem:
    return Problem(403, "FORBIDDEN", "Unauthorized to perform operation 'CREATE' on resource 'USER': setup is complete")


def updating(entries: Entries) -> Handler:
    """PUT /v2/{kind}/{id}: replace an entry. A user's password stays, unless the body has one."""

    async def update(request: Request, services: Services) -> Response:
        id = id_of(request, entries.parameter)
        body = _body(request, services, entries, ())
        password_hash = await _hashed(body.password) if body.password else None
        async with changing(request, services) as connection:
            done = await directory.update(connection, entries.kind, id, _values(entries.kind, body))
            _check_done(entries, id, done)
            if password_hash is not None:
                await identities.set_password(connection, id, password_hash)
        return json_response(_document(entries, id, body))

    return update


def deleting(entries: Entries) -> Handler:
    """DELETE /v2/{kind}/{id}: delete an entry with its members, memberships and grants."""

    async def delete(request: Request, services: Services) -> Response:
        id = id_of(request, entries.parameter)
        try:
            async with changing(request, services) as connection:
                _check_done(entries, id, await directory.delete(connection, entries.kind, id))
        except LastAdmin as error:
            raise _conflict(str(error), "INVALID_STATE") from error
        return no_content()

    return delete


def getting(entries: Entries) -> Handler:
    """GET /v2/{kind}/{id}: one entry."""

    async def get(request: Request, services: Services) -> Response:
        id = id_of(request, entries.parameter)
        found = await read(services, lambda connection: get_by(connection, entries.resource, entries.id_sql, id))
        if found is None:
            raise _unknown(entries, id)
        return json_response(found)

    return get


# -------------------------------------------------------------------------------------------------------- members


def assigning(container: Entries, members: Members) -> Handler:
    """PUT /v2/{kind}/{id}/{members}/{id}: add a member. Users and clients need no row here."""

    async def assign(request: Request, services: Services) -> Response:
        id, member = id_of(request, container.parameter), id_of(request, members.parameter)
        async with changing(request, services) as connection:
            await _must_exist(connection, container, id)
            if members.entries is not None:
                await _must_exist(connection, members.entries, member)
            if not await identities.assign(connection, (container.kind.type, id), (members.type, member)):
                raise _conflict(f"'{member}' is a member of {container.resource.name} '{id}' already")
        return no_content()

    return assign


def unassigning(container: Entries, members: Members) -> Handler:
    """DELETE /v2/{kind}/{id}/{members}/{id}: remove a member."""

    async def unassign(request: Request, services: Services) -> Response:
        id, member = id_of(request, container.parameter), id_of(request, members.parameter)
        try:
            async with changing(request, services) as connection:
                if not await identities.unassign(connection, (container.kind.type, id), (members.type, member)):
                    raise not_found(f"Member of {container.resource.name} '{id}'", member, by=members.parameter)
        except LastAdmin as error:
            raise _conflict(str(error), "INVALID_STATE") from error
        return no_content()

    return unassign


def listing(container: Entries, members: Members) -> Handler:
    """POST /v2/{kind}/{id}/{members}/search: the members of one kind."""
    resource = searches.members(container.kind.type, members.type, members.parameter, members.shown)

    async def search(request: Request, services: Services) -> Response:
        return await _search(request, services, container, resource, "container")

    return search


async def roles_of_group(request: Request, services: Services) -> Response:
    """POST /v2/groups/{groupId}/roles/search: the roles that the group has."""
    return await _search(request, services, GROUPS, searches.ROLES_OF_GROUP, "group")


async def _search(
    request: Request, services: Services, container: Entries, resource: Resource, condition: str
) -> Response:
    """Search with the id in the path as the value of a condition. Raises Problem 404 for an unknown id."""
    id = id_of(request, container.parameter)
    prepared = prepare(request, resource, services.settings, (condition, id))
    await read(services, lambda connection: _must_exist(connection, container, id))
    return await run(request, services, prepared)


# --------------------------------------------------------------------------------------------------------- shared


def _body(request: Request, services: Services, entries: Entries, ids: tuple[str, ...]) -> DirectoryBody:
    """The body, with only the fields of its kind. Raises Problem 400."""
    body = decode(request, _decoder, services.settings)
    allowed = (*ids, *_OF_KIND[entries.kind.type])
    given = [name for name in body.__struct_fields__ if getattr(body, name) is not None]
    if foreign := [name for name in given if name not in allowed]:
        raise invalid_argument(f"The property '{json_name(foreign[0])}' does not belong here")
    found = Violations()
    for name in (*ids, *_REQUIRED.get(entries.kind.type, ("name",))):
        found.require(json_name(name), getattr(body, name) or None)
    for name in given:
        found.longest(json_name(name), getattr(body, name), MAX_TEXT)
    found.check()
    return body


def json_name(field: str) -> str:
    """The name of a field in JSON."""
    first, *others = field.split("_")
    return first + "".join(map(str.title, others))


def id_of(request: Request, parameter: str) -> str:
    """The id in the path. Raises Problem 400 for one that no entry can have."""
    id = request.params[parameter]
    _check_id(parameter, id)
    return id


def _check_id(name: str, id: str) -> None:
    if (TENANT_ID if name == _TENANT_ID else ID).fullmatch(id) is None:
        raise invalid_argument(f"The {name} '{id[:100]}' is not valid")


async def _hashed(password: str | None) -> str:
    if not password:
        raise invalid_argument("No password provided")
    try:
        return await hash_in_thread(password)
    except ValueError as error:
        raise invalid_argument(str(error).capitalize()) from error


def _values(kind: EntryKind, body: DirectoryBody) -> list[str | None]:
    return [getattr(body, column) for column in kind.columns]


def _document(entries: Entries, id: str, body: DirectoryBody) -> dict[str, Any]:
    columns = {json_name(column): getattr(body, column) for column in entries.kind.columns}
    return {entries.parameter: id, **columns}


def _check_done(entries: Entries, id: str, done: str) -> None:
    """Raise the Problem of a change that was not made."""
    if done == "unknown":
        raise _unknown(entries, id)
    if done == "kept":
        raise _conflict(f"{entries.resource.name} '{id}' is built in and cannot be changed", "INVALID_STATE")
    if done == "used":
        raise _conflict(
            f"{entries.resource.name} '{id}' still has process definitions, decisions, forms or other files:"
            " delete them first",
            "INVALID_STATE",
        )
    if done == "taken":
        raise _conflict("Another mapping rule has the same claim")


async def _must_exist(connection: Connection, entries: Entries, id: str) -> None:
    if not await directory.exists(connection, entries.kind, id):
        raise _unknown(entries, id)


def _unknown(entries: Entries, id: str) -> Problem:
    return not_found(entries.resource.name, id[:300], by=entries.parameter)


def _conflict(detail: str, title: str = "ALREADY_EXISTS") -> Problem:
    return Problem(409, title, detail)
