"""The commands `show`, `trace` and `events`."""

from __future__ import annotations

import click

from vivero import terminal_tables
from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client, Document

ELEMENTS: tuple[terminal_tables.Column, ...] = (
    ("element instance", terminal_tables.field("elementInstanceKey")),
    ("element", terminal_tables.field("elementId")),
    ("type", terminal_tables.field("type")),
    ("state", terminal_tables.state),
    ("started", terminal_tables.time("startDate")),
    ("ended", terminal_tables.time("endDate")),
)
INCIDENTS: tuple[terminal_tables.Column, ...] = (
    ("incident", terminal_tables.field("incidentKey")),
    ("type", terminal_tables.field("errorType")),
    ("element", terminal_tables.field("elementId")),
    ("message", terminal_tables.field("errorMessage")),
)
MAX_ROWS = 200


@click.command()
@click.argument("key")
@address_option
@json_option
def show(key: str, address: str | None, as_json: bool) -> None:
    """Show the process instance KEY: its elements, variables and open incidents."""

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
    screen = terminal_tables.console()
    screen.print(_headline(found["instance"]))
    screen.print(terminal_tables.table(found["elements"], ELEMENTS))
    if found["variables"]:
        screen.print("", terminal_tables.variables(found["variables"]))
    if found["incidents"]:
        screen.print("", terminal_tables.table(found["incidents"], INCIDENTS))


@click.command()
@click.argument("key")
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
    click.echo(f"{item['commandPosition']}  {item['at']}")
    for line in item["lines"]:
        click.echo(f"    {line}")


@click.command()
@click.argument("position", type=int)
@address_option
@json_option
def events(position: int, address: str | None, as_json: bool) -> None:
    """Show the command at POSITION of the log and all its events.

    The API returns the position of a command in the header Command-Position.
    """
    command = talk(address, lambda client: client.command(position))
    if as_json:
        say(command)
        return
    screen = terminal_tables.console()
    took = terminal_tables.latency_ms(command)
    screen.print(
        f"[bold]{command['intent']}[/] at position {position}: {terminal_tables.coloured(command['status'])}"
        + ("" if took is None else f" after {took:g} ms")
    )
    if command["rejection"] is not None:
        screen.print(f"{command['rejection']['code']}: {command['rejection']['reason']}", markup=False)
    screen.print(terminal_tables.event_table(command))


def _headline(instance: Document) -> str:
    return (
        f"[bold]{instance['processDefinitionId']}[/] version {instance['processDefinitionVersion']},"
        f" instance {instance['processInstanceKey']}: {terminal_tables.state(instance)}"
    )
