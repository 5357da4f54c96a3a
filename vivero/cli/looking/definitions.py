"""The commands `definitions` and `xml`: deployed processes, and their models."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.filters import process_option
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.process_ids import complete_process_id, unknown_process
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document, path_part
from vivero.terminal.terminal_tables import Column, field, state

COLUMNS = (
    Column("key", field("processDefinitionKey")),
    Column("process", field("processDefinitionId")),
    Column("version", field("version")),
    Column("tag", field("versionTag"), spare=2),
    Column("state", state, spare=3),
    Column("name", field("name"), spare=1),
    Column("file", field("resourceName"), spare=4),
)


@click.command()
@process_option("Only versions of this process.")
@click.option("--latest", is_flag=True, help="Only latest versions.")
@oldest_or_newest
@paged
def definitions(process: str | None, latest: bool, oldest: bool, **page: Any) -> None:
    """List deployed processes, with all versions or the latest ones.

    \b
    Examples:
      vivero definitions --latest
      vivero definitions --process order
    """
    filter = {"processDefinitionId": process, "isLatestVersion": True if latest else None}
    list_page("process-definitions", filter, "processDefinitionKey", COLUMNS, oldest, ListView(**page))


@click.command()
@click.argument("process", metavar="ID_OR_KEY", shell_complete=complete_process_id)
@click.option("--version", type=click.IntRange(1), metavar="N", help="The version of the process.  [the latest]")
@address_option
@json_option
def xml(process: str, version: int | None, address: str | None, as_json: bool) -> None:
    """Print the model of a process as BPMN: by the process id, or by the key of a version.

    \b
    Examples:
      vivero xml order > order.bpmn
      vivero xml order --version 2 | diff - order.bpmn
    """

    async def read(client: Client) -> Document:
        key = process if process.isdecimal() else await _key_of(client, process, version)
        path = f"/v2/process-definitions/{path_part(key)}"
        found = (await client.request("GET", path)).document
        model = await client.text(f"{path}/xml")
        return found | {"xml": model}

    found = talk(address, read)
    if as_json:
        say(found)
    else:
        click.echo(found["xml"], nl=not found["xml"].endswith("\n"))


async def _key_of(client: Client, process: str, version: int | None) -> str:
    chosen: dict[str, Any] = {"isLatestVersion": True} if version is None else {"version": version}
    found = (await client.search("process-definitions", {"processDefinitionId": process, **chosen}, limit=1)).items
    if not found:
        what = f"there is no process '{process}'" + ("" if version is None else f" with version {version}")
        raise Failure(await unknown_process(client, process, what))
    return str(found[0]["processDefinitionKey"])
