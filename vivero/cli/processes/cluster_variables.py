"""The commands `cluster-variables …`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from vivero.cli.looking.lists import ListView, list_page, paged
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import JSON_OBJECT, JSON_VALUE, json_option, tell
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import ApiError, Client, Document, path_part
from vivero.terminal.terminal_tables import Column, field, value

NOT_FOUND = 404
COLUMNS = (
    Column("name", field("name")),
    Column("value", lambda item: value(item["value"]), wraps=True),
    Column("tenant", lambda item: item["tenantId"] or "-"),
    Column("metadata", lambda item: msgspec.json.encode(item["metadata"]).decode(), wraps=True, spare=1),
)
TENANT = click.option("--tenant", metavar="ID", help="The tenant of the variables.  [the whole cluster]")


@click.group("cluster-variables", cls=Group)
def cluster_variables() -> None:
    """List, set and delete cluster variables, which expressions read as camunda.vars.

    \b
    Examples:
      vivero cluster-variables set API_URL '"https://api.example.com"'
      vivero cluster-variables set LIMIT 10 --tenant acme
      vivero cluster-variables list --tenant acme
      vivero cluster-variables delete API_URL
    """


@cluster_variables.command("list")
@click.option("--tenant", metavar="ID", help="Only variables of this tenant.  [any, and those of the cluster]")
@click.option("--name", metavar="PATTERN", help="Only names like this; * stands for any text.")
@paged
def list_(tenant: str | None, name: str | None, **page: Any) -> None:
    """List cluster variables by name."""
    filter = {"tenantId": tenant, "name": None if name is None else {"$like": name}}
    list_page("cluster-variables", filter, "name", COLUMNS, True, ListView(**page))


@cluster_variables.command("set")
@click.argument("name")
@click.argument("value", type=JSON_VALUE, metavar="JSON")
@click.option("--metadata", type=JSON_OBJECT, help="Texts and numbers by name, as JSON.  [those that it has]")
@TENANT
@address_option
@json_option
def set_(
    name: str,
    value: Any,
    metadata: dict[str, Any] | None,
    tenant: str | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Create a cluster variable, or change its value: JSON, @file, or @- for standard input."""

    async def work(client: Client) -> None:
        found = await _found(client, _path(tenant, name))
        if found is None:
            await client.request("POST", _path(tenant), {"name": name, "value": value, "metadata": metadata or {}})
        else:
            body = {"value": value, "metadata": found["metadata"] if metadata is None else metadata}
            await client.request("PUT", _path(tenant, name), body)
        outcome = "created" if found is None else "changed"
        tell(as_json, f"{outcome} {name}", name=name, tenantId=tenant, outcome=outcome)

    talk(address, work)


@cluster_variables.command()
@keys_argument("NAME")
@TENANT
@address_option
@json_option
def delete(keys: tuple[str, ...], tenant: str | None, address: str | None, as_json: bool) -> None:
    """Delete cluster variables. Later expressions see null."""

    async def work(client: Client, name: str) -> None:
        await client.request("DELETE", _path(tenant, name))

    try_each(address, keys, work, "deleted", as_json=as_json)


async def _found(client: Client, path: str) -> Document | None:
    """The variable at a path; None if there is none. Raises ApiError."""
    try:
        return await client.get(path)
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None


def _path(tenant: str | None, name: str | None = None) -> str:
    place = "global" if tenant is None else f"tenants/{path_part(tenant)}"
    return f"/v2/cluster-variables/{place}" + ("" if name is None else f"/{path_part(name)}")
