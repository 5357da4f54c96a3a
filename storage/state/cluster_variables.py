"""Cluster variables: values of the whole cluster or of a tenant, which requests change, each in its transaction."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, NamedTuple

from vivero.core.expressions.camunda_context import variables_seen
from vivero.core.feel import from_json
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state.normal_form import normal_form

_sql = beside(__file__)
SEEN = _sql["seen"]
OF_CLUSTER = ""
"""The tenant of a variable of the whole cluster."""
MOST_VARIABLES = 1_000
"""Variables of the cluster, and of each tenant. A partition that evaluates one of them has them all in memory."""
MOST_JSON_CHARACTERS = 1024 * 1024
"""Characters of JSON of these variables together."""


class ClusterVariable(NamedTuple):
    """A row. `value` is JSON text, `metadata` the text of a JSON object."""

    tenant: str
    name: str
    value: str
    metadata: str


class TooMany(Exception):
    """With this variable there would be too many, or too large ones. The text says which limit holds."""


class UnknownTenant(Exception):
    """There is no such tenant."""


async def create(connection: Connection, made: ClusterVariable) -> bool:
    """Add a variable, in a transaction. False if there is one with its name. Raises TooMany, UnknownTenant."""
    return await _set(connection, "create", made)


async def replace(connection: Connection, changed: ClusterVariable) -> bool:
    """Replace value and metadata, in a transaction. False if there is no such variable. Raises as `create`."""
    return await _set(connection, "replace", changed)


async def delete(connection: Connection, tenant: str, name: str) -> bool:
    """Delete a variable, in a transaction. False if there is none."""
    await connection.execute(_sql["changed"])
    return bool((await connection.execute(_sql["delete"], (tenant, name))).rows)


async def _set(connection: Connection, statement: str, variable: ClusterVariable) -> bool:
    """`changed` comes first: other changes wait for its row, so that the limits hold for changes at the same time."""
    tenant, name, value, metadata = variable
    await connection.execute(_sql["changed"])
    if tenant != OF_CLUSTER and not (await connection.execute(_sql["tenant"], (tenant,))).rows:
        raise UnknownTenant
    count, characters = (await connection.execute(_sql["others"], (tenant, name))).rows[0]
    if count >= MOST_VARIABLES:
        raise TooMany(f"there are {count} already, and there must not be more than {MOST_VARIABLES}")
    if characters + len(value) > MOST_JSON_CHARACTERS:
        raise TooMany(f"their values must not have more than {MOST_JSON_CHARACTERS} characters together")
    values = (tenant, name, value, normal_form(value), metadata)
    return bool((await connection.execute(_sql[statement], values)).rows)


def call_for(tenants: Set[str]) -> Call:
    """The call of `seen` for some tenants."""
    return SEEN, (sorted({*tenants, OF_CLUSTER}),)


def add(state: State, asked: Set[str], rows: Iterable[tuple[str, str, str]]) -> None:
    """Give the catalogue what the tenants that were asked for see: rows of `seen`."""
    found: dict[str, dict[str, Any]] = {tenant: {} for tenant in (*asked, OF_CLUSTER)}
    for tenant, name, value in rows:
        found[tenant][name] = from_json(value)
        state.catalogue.variables_size += 1 + len(value) // 1024
    for tenant in asked:
        state.catalogue.cluster_variables[tenant] = variables_seen(found[OF_CLUSTER], found[tenant])
