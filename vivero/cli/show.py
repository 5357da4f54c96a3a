"""Commands that show one thing in full: show, trace, events."""

from __future__ import annotations

import click

from vivero import pictures
from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client, Document

ELEMENTS: tuple[pictures.Column, ...] = (
    ("element instance", pictures.field("elementInstanceKey")),
    ("element", pictures.field("elementId")),
    ("type", pictures.field("type")),
    ("state", pictures.state),
    ("started", pictures.time("startDate")),
    ("ended", pictures.time("endDate")),
)
INCIDENTS: tuple[pictures.Column, ...] = (
    ("incident", pictures.field("incidentKey")),
    ("type", pictures.field("errorType")),
    ("element", pictures.field("elementId")),
    ("message", pictures.field("errorMessage")),
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
    screen = pictures.console()
    screen.print(_headline(found["instance"]))
    screen.print(pictures.table(found["elements"], ELEMENTS))
    if found["variables"]:
        screen.print("", pictures.variables(found["variables"]))
    if found["incidents"]:
        screen.print("", pictures.table(found["incidents"], INCIDENTS))


@click.command()
@click.argument("key")
@address_option
@json_option
def trace(key: str, address: str | None, as_json: bool) -> None:
    """Show what happened to the process instance KEY, and to all that it called: one line an event.

    Elements are named by their ids, a second instance of one as `work~2`. With --json a command is one document.

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
    """A command and what it caused, indented."""
    click.echo(f"{item['commandPosition']}  {item['at']}")
    for line in item["lines"]:
        click.echo(f"    {line}")


@click.command()
@click.argument("position", type=int)
@address_option
@json_option
def events(position: int, address: str | None, as_json: bool) -> None:
    """Show the command at POSITION of the log, and every event it caused.

    An answer of the API names the position of its command, in the header Command-Position.
    """
    command = talk(address, lambda client: client.command(position))
    if as_json:
        say(command)
        return
    screen = pictures.console()
    took = pictures.took_ms(command)
    screen.print(
        f"[bold]{command['intent']}[/] at position {position}: {pictures.coloured(command['status'])}"
        + ("" if took is None else f" after {took:g} ms")
    )
    if command["rejection"] is not None:
        screen.print(f"{command['rejection']['code']}: {command['rejection']['reason']}", markup=False)
    screen.print(pictures.event_table(command))


def _headline(instance: Document) -> str:
    return (
        f"[bold]{instance['processDefinitionId']}[/] version {instance['processDefinitionVersion']},"
        f" instance {instance['processInstanceKey']}: {pictures.state(instance)}"
    )
