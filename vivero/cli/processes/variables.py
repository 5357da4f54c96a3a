"""The commands `variables` and `set`."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.options import JSON_OBJECT, json_option
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import Client, path_part
from vivero.terminal.terminal_tables import Column, field, value

COLUMNS = (
    Column("key", field("variableKey")),
    Column("variable", field("name")),
    Column("value", lambda item: value(item["value"]), wraps=True),
    Column("scope", field("scopeKey"), spare=1),
    Column("instance", field("processInstanceKey"), spare=2),
)


@click.command()
@click.option("--instance", metavar="KEY", help="Only variables of this process instance.")
@click.option(
    "--scope", metavar="KEY", help="Only variables in the scope of this process instance or element instance."
)
@click.option("--name", metavar="NAME", help="Only variables with this name.")
@click.option("--value", "value_", metavar="JSON", help="Only variables with this value, as JSON: '\"red\"', 30, true.")
@oldest_or_newest
@paged
def variables(
    instance: str | None, scope: str | None, name: str | None, value_: str | None, oldest: bool, **page: Any
) -> None:
    """List variables and their values.

    \b
    Examples:
      vivero variables --instance 2251799813685251
      vivero variables --name customer --value '"Ann"'
    """
    filter = {"processInstanceKey": instance, "scopeKey": scope, "name": name, "value": value_}
    list_page("variables", filter, "variableKey", COLUMNS, oldest, ListView(**page))


@click.command("set")
@keys_argument()
@click.option("--variables", type=JSON_OBJECT, required=True, help="A JSON object, @file, or @- for standard input.")
@click.option("--local", is_flag=True, help="Set them in this scope itself, also if an outer scope has them.")
@address_option
@json_option
def set_(keys: tuple[str, ...], variables: dict[str, Any], local: bool, address: str | None, as_json: bool) -> None:
    """Set variables of process instances, or of element instances.

    \b
    Examples:
      vivero set 2251799813685251 --variables '{"card": "4711"}'
      vivero instances --tag x --keys | vivero set - --variables '{"late": true}'
    """

    async def work(client: Client, key: str) -> None:
        path = f"/v2/element-instances/{path_part(key)}/variables"
        await client.request("PUT", path, {"variables": variables, "local": local})

    try_each(address, keys, work, "set variables of", as_json=as_json)
