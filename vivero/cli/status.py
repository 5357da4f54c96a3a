"""The command `status`."""

from __future__ import annotations

import click
from rich.table import Table

from vivero.cli.options import address_option, say, talk
from vivero.client import Client, Document
from vivero.terminal_tables import console


@click.command()
@address_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(context: click.Context, address: str | None, as_json: bool) -> None:
    """Show the server's health, version and partitions. The exit code is 0 if it is healthy, otherwise 1."""

    async def look(client: Client) -> tuple[bool, Document]:
        return await client.healthy(), await client.topology()

    healthy, topology = talk(address, look)
    if as_json:
        say({"healthy": healthy, **topology})
    else:
        console().print(_table(healthy, topology))
    context.exit(0 if healthy else 1)


def _table(healthy: bool, topology: Document) -> Table:
    made = Table.grid(padding=(0, 2))
    made.add_row("health", "[green]healthy[/]" if healthy else "[red]a part of the server makes no progress[/]")
    made.add_row("REST API", f"Camunda {topology['gatewayVersion']}")
    made.add_row("cluster", topology["clusterId"] or "")
    for broker in topology["brokers"]:
        made.add_row("node", f"{broker['brokerId']} at {broker['host']}:{broker['port']}, version {broker['version']}")
        for partition in broker["partitions"]:
            made.add_row("partition", f"{partition['partitionId']}: {partition['role']}, {partition['health']}")
    return made
