"""Cluster variables: values that the expressions of all processes see, of the whole cluster or of a tenant."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.audit import changing
from vivero.api.callers.permissions import Permission
from vivero.api.http.decoding import Body, Violations, decode, decoder, encode_value
from vivero.api.http.problems import Problem, invalid_argument, not_found, unexpected_value, unparsable
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.search.search_requests import answer
from vivero.api.services import Services
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.cluster_variables import (
    CLUSTER_VARIABLE,
    CLUSTER_VARIABLE_PREVIEWS,
    CLUSTER_VARIABLES,
    GLOBAL,
    JSON,
    KINDS,
    MOST_METADATA,
    TENANT,
    find,
)
from vivero.storage.search.directory import TENANTS
from vivero.storage.state import cluster_variables
from vivero.storage.state.cluster_variables import OF_CLUSTER, ClusterVariable, TooMany, UnknownTenant

NAME = re.compile(r"[a-zA-Z0-9_~@.+-]{1,256}")
VALUE_BYTES = 64 * 1024
"""Bytes of the JSON of a value."""
METADATA_CHARACTERS = 1_000
"""Characters of a name and of a text of metadata."""
NAME_CHARACTERS = 256

Metadata = dict[str, Any]
"""Texts and numbers by name."""


class CreateBody(Body, frozen=True):
    name: str | None = None
    value: Any = None
    metadata: Metadata | None = None
    kind: str | None = None


class UpdateBody(Body, frozen=True):
    value: Any = None
    metadata: Metadata | None = None


_create_decoder, _update_decoder = decoder(CreateBody), decoder(UpdateBody)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/cluster-variables/global and …/tenants/{tenantId}: expressions see the variable from now on."""
    body = decode(request, _create_decoder, services.settings)
    made = _variable(_tenant(request, services, "CREATE"), body.name or "", body)
    _check_kind(body.kind)
    async with _setting(request, services, made) as connection:
        if not await cluster_variables.create(connection, made):
            detail = f"{CLUSTER_VARIABLE.name} with name '{made.name}' exists already in {_place(made.tenant)}"
            raise Problem(409, "ALREADY_EXISTS", detail)
    return json_response(_document(made))


async def get(request: Request, services: Services) -> Response:
    """GET /v2/cluster-variables/global/{name} and …/tenants/{tenantId}/{name}: a variable with its whole value."""
    tenant, name = request.params.get("tenantId", OF_CLUSTER), _name(request)
    found = await read_of(
        services, request.tenants, lambda connection, tenants: find(connection, tenant, name, tenants)
    )
    if found is None:
        raise _unknown(tenant, name)
    return json_response(found)


async def update(request: Request, services: Services) -> Response:
    """PUT /v2/cluster-variables/global/{name} and …/tenants/{tenantId}/{name}: replace the value and the metadata."""
    body = decode(request, _update_decoder, services.settings)
    changed = _variable(_tenant(request, services, "UPDATE"), _name(request), body)
    async with _setting(request, services, changed) as connection:
        if not await cluster_variables.replace(connection, changed):
            raise _unknown(changed.tenant, changed.name)
    return json_response(_document(changed))


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/cluster-variables/global/{name} and …/tenants/{tenantId}/{name}: later expressions see null."""
    tenant, name = _tenant(request, services, "DELETE"), _name(request)
    async with changing(request, services) as connection:
        if not await cluster_variables.delete(connection, tenant, name):
            raise _unknown(tenant, name)
    return no_content()


async def search(request: Request, services: Services) -> Response:
    """POST /v2/cluster-variables/search: long values are truncated unless `truncateValues=false`."""
    preview = request.flag("truncateValues", True)
    return await answer(request, services, CLUSTER_VARIABLE_PREVIEWS if preview else CLUSTER_VARIABLES)


def _tenant(request: Request, services: Services, action: str) -> str:
    """The tenant in the path, which the caller must have, or that of the whole cluster. Raises Problem 400, 403."""
    tenant = request.params.get("tenantId", OF_CLUSTER)
    if tenant == OF_CLUSTER or (services.access.multi_tenancy and request.caller.tenants is None):
        return tenant
    what = f"{action.title()} Cluster Variable"
    return tenants.named(request, services, tenant, what, Permission("CLUSTER_VARIABLE", action))


@asynccontextmanager
async def _setting(request: Request, services: Services, variable: ClusterVariable) -> AsyncGenerator[Connection]:
    """A transaction for a change of a variable of an existing tenant. Raises Problem 400 beyond the limits, 404."""
    try:
        async with changing(request, services, variable.name) as connection:
            yield connection
    except UnknownTenant as error:
        raise not_found(TENANTS.name, variable.tenant, by="tenantId") from error
    except TooMany as error:
        raise invalid_argument(f"The cluster variables of {_place(variable.tenant)} have a limit: {error}") from error


def _name(request: Request) -> str:
    """The name in the path. Raises Problem 400."""
    name = request.params["name"]
    if NAME.fullmatch(name) is None:
        raise invalid_argument(_not_a_name(name))
    return name


def _not_a_name(text: str) -> str:
    return f"The provided name '{text[:100]}' is not valid: it has up to 256 of the characters a-z A-Z 0-9 _~@.+-"


def _variable(tenant: str, name: str, body: CreateBody | UpdateBody) -> ClusterVariable:
    """The variable in a body. Raises Problem 400."""
    found = Violations()
    found.require("name", name)
    if name and NAME.fullmatch(name) is None:
        found.add(_not_a_name(name))
    found.require("value", "given" if body.value is not None else None)
    value = encode_value(body.value).decode()
    found.largest("value", value, VALUE_BYTES)
    _check_metadata(body.metadata or {}, found)
    found.check()
    return ClusterVariable(tenant, name, value, encode_value(body.metadata or {}).decode())


def _check_metadata(metadata: Metadata, found: Violations) -> None:
    if len(metadata) > MOST_METADATA:
        found.add(f"The provided metadata has {len(metadata)} entries but must not have more than {MOST_METADATA}")
    for name, value in metadata.items():
        if type(value) not in (str, int, float, Decimal):
            raise unparsable(f"metadata.{name[:50]}")
        found.longest("name of metadata", name, NAME_CHARACTERS)
        found.longest(f"metadata.{name[:50]}", value if isinstance(value, str) else None, METADATA_CHARACTERS)


def _check_kind(kind: str | None) -> None:
    """Raise Problem 400 for an unknown kind, and for the one that is not supported."""
    if kind is not None and kind not in KINDS:
        raise unexpected_value(kind[:100], "kind", KINDS)
    if kind not in (None, JSON):
        raise invalid_argument(
            f"The kind '{kind}' is not supported: cluster variables are of the kind '{JSON}'. Connectors read secrets"
            " by {{secrets.NAME}} (docs/connectors.md)"
        )


def _document(variable: ClusterVariable) -> dict[str, object]:
    return {
        "name": variable.name,
        "scope": TENANT if variable.tenant else GLOBAL,
        "tenantId": variable.tenant or None,
        "metadata": msgspec.Raw(variable.metadata.encode()),
        "kind": JSON,
        "value": variable.value,
    }


def _place(tenant: str) -> str:
    return f"the tenant '{tenant[:100]}'" if tenant else "the cluster"


def _unknown(tenant: str, name: str) -> Problem:
    of = f"{CLUSTER_VARIABLE.name} of {_place(tenant)}"
    return not_found(of, name[:300], by="name")
