"""The commands `show`, `trace` and `events`."""

from __future__ import annotations

import click

from vivero.cli.shared.options import KEY, json_option, say
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document
from vivero.core.partitions.keys import keys_of
from vivero.terminal import log_tables
from vivero.terminal.terminal_tables import VARIABLES, Column, coloured, console, field, state, time
from vivero.terminal.texts import as_markup, echo

ELEMENTS: tuple[Column, ...] = (
    Column("element instance", field("elementInstanceKey")),
    Column("element", field("elementId")),
    Column("type", field("type")),
    Column("state", state),
    Column("started", time("startDate"), spare=1),
    Column("ended", time("endDate"), spare=2),
)
INCIDENTS: tuple[Column, ...] = (
    Column("incident", field("incidentKey")),
    Column("type", field("errorType")),
    Column("element", field("elementId")),
    Column("message", field("errorMessage"), wraps=True),
)
MAX_ROWS = 200
FIRST_PARTITION = 1


@click.command()
@click.argument("key", metavar="KEY", type=KEY)
@address_option
@json_option
def show(key: str, address: str | None, as_json: bool) -> None:
    """Show the process instance KEY: its elements, variables and open incidents.

    \b
    Example:
      vivero show 2251799813685252
    """

    async def read(client: Client) -> Document:
        of_it = {"processInstanceKey": key}
        return {
            "instance": await client.instance(key),
            "elements": (await client.search("element-instances", of_it, limit=MAX_ROWS)).items,
            "variables": (await client.search("variables", of_it, limit=MAX_ROWS)).items,
            "incidents": (await client.search("incidents", of_it | {"state": "ACTIVE"}, limit=MAX_ROWS)).items,
        }

    found = talk(address, read)
    if as_json:
        say(found)
        return
    screen = console()
    screen.print(_headline(found["instance"]))
    print_rows(found["elements"], ELEMENTS)
    if found["variables"]:
        screen.print()
        print_rows(sorted(found["variables"], key=lambda item: item["name"]), VARIABLES)
    if found["incidents"]:
        screen.print()
        print_rows(found["incidents"], INCIDENTS)


@click.command()
@click.argument("key", metavar="KEY", type=KEY)
@address_option
@json_option
def trace(key: str, address: str | None, as_json: bool) -> None:
    """Show the history of the process instance KEY and of the instances that it called, one line per event.

    Lines name elements by their ids; `work~2` is the second instance of `work`. With --json, each command is one
    document.

    \b
    Example:
      vivero trace 2251799813685252 | grep Incident
    """

    async def read(client: Client) -> None:
        async for item in client.trace(key):
            if as_json:
                say(item)
            else:
                _say_lines(item)

    talk(address, read)


def _say_lines(item: Document) -> None:
    """Print a command and its events, which are indented."""
    echo(f"{item['commandPosition']}  {item['at']}")
    for line in item["lines"]:
        echo(f"    {line}")


@click.command()
@click.argument("position", type=click.IntRange(1))
@address_option
@json_option
def events(position: int, address: str | None, as_json: bool) -> None:
    """Show the command at POSITION of the log and all its events.

    The API returns the position of a command in the header Command-Position, and `vivero trace` shows it. The console
    shows the positions of a partition from 1: such a number stands for a position of the first partition.

    \b
    Examples:
      vivero events 2251799813685249
      vivero events 1
    """
    first, _ = keys_of(FIRST_PARTITION)
    if position < first:
        position += first
    command = talk(address, lambda client: client.command(position))
    if as_json:
        say(command)
        return
    screen = console()
    took = log_tables.latency_ms(command)
    screen.print(
        f"[bold]{command['intent']}[/] at position {position}: {coloured(command['status'])}"
        + ("" if took is None else f" after {took:g} ms")
    )
    if command["rejection"] is not None:
        screen.print(f"{command['rejection']['code']}: {command['rejection']['reason']}", markup=False)
    print_rows(command["events"], log_tables.EVENT_COLUMNS)


def _headline(instance: Document) -> str:
    return (
        f"[bold]{as_markup(instance['processDefinitionId'])}[/] version {instance['processDefinitionVersion']},"
        f" instance {instance['processInstanceKey']}: {state(instance)}"
    )
