"""The command `status`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from rich.table import Table

from vivero import config
from vivero.cli.failures import Failure, run
from vivero.cli.options import CONFIG, address_option, say, talk
from vivero.client import Client, ClientError, Document, Unreachable
from vivero.config import ConfigError
from vivero.terminal_tables import Column, console, table

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
"""An address to listen on that stands for all → one to connect to."""


@click.command()
@address_option
@click.option("--processes", is_flag=True, help="Show each process of `vivero up --processes N` instead.")
@click.option("--admin", metavar="URL", help="The admin port, for --processes.  [admin.host and admin.port]")
@CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(
    context: click.Context, address: str | None, processes: bool, admin: str | None, file: Path | None, as_json: bool
) -> None:
    """Show the server's health, version and partitions. The exit code is 0 if it is healthy, otherwise 1.

    With --processes, show the health, connections and requests of each process. Only the admin port knows them. Its
    address is that of the settings `admin.host` and `admin.port`: give the same --config as to the server.

    \b
    Examples:
      vivero status
      vivero status --processes
    """
    if processes or admin is not None:
        found = _ask_admin(admin or admin_address(file))
    else:
        healthy, topology = talk(address, _ask)
        found = {"healthy": healthy, **topology}
    if as_json:
        say(found)
    elif "processes" in found:
        console().print(table(found["processes"], PROCESS_COLUMNS))
        for problem in _problems(found):
            click.echo(problem, err=True)
    else:
        console().print(_table(found))
    context.exit(0 if found["healthy"] else 1)


async def _ask(client: Client) -> tuple[bool, Document]:
    return await client.healthy(), await client.topology()


def admin_address(file: Path | None) -> str:
    """The address of the admin port by the settings. Raises Failure."""
    try:
        chosen = config.load(file).admin
    except ConfigError as error:
        raise Failure(str(error)) from error
    if not chosen.port:
        raise Failure("admin.port is 0, so the server has chosen a port: name it with --admin")
    host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
    return f"http://{ANY_ADDRESS.get(chosen.host, host)}:{chosen.port}"


def _ask_admin(address: str) -> Document:
    """The processes. Sends no credentials, because the admin port has no authentication. Raises Failure."""

    async def look() -> Document:
        async with Client(address, credentials="") as client:
            try:
                return await client.processes()
            except Unreachable as error:
                raise ClientError(f"{error} Only a program with --processes has an admin port.") from error

    return run(look, {ClientError: Failure})


def _table(found: Document) -> Table:
    made = Table.grid(padding=(0, 2))
    made.add_row(
        "health", "[green]healthy[/]" if found["healthy"] else "[red]a part of the server makes no progress[/]"
    )
    made.add_row("REST API", f"Camunda {found['gatewayVersion']}")
    made.add_row("cluster", found["clusterId"] or "")
    for broker in found["brokers"]:
        made.add_row("node", f"{broker['brokerId']} at {broker['host']}:{broker['port']}, version {broker['version']}")
        for partition in broker["partitions"]:
            made.add_row("partition", f"{partition['partitionId']}: {partition['role']}, {partition['health']}")
    return made


def _health(process: Document) -> str:
    return "[green]healthy[/]" if process["healthy"] else "[red]unhealthy[/]"


def _text(name: str) -> Column:
    """A column of a field that a process without an answer lacks."""
    return name, lambda process: str(process.get(name) or "-")


PROCESS_COLUMNS: tuple[Column, ...] = (
    ("process", lambda process: process["name"]),
    ("health", _health),
    *map(_text, ("pid", "node", "connections", "requests")),
)


def _problems(found: Document) -> Iterator[str]:
    """What is wrong: processes that do not answer, and tasks that make no progress."""
    for process in found["processes"]:
        if "problem" in process:
            yield process["problem"]
        for child in process.get("children", ()):
            if not child["healthy"]:
                yield f"process {process['name']}: {child['name']} makes no progress"
    for child in found["children"]:
        if not child["healthy"]:
            yield f"{child['name']} makes no progress"
