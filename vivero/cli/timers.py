"""The commands `timers`, `fire` and `move`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from vivero.cli.lists import View, list_page, oldest_or_newest, paged
from vivero.cli.options import address_option, talk
from vivero.client import Client
from vivero.terminal_tables import field, state, time


@click.command()
@click.option("--instance", metavar="KEY", help="Only timers of this process instance.")
@click.option("--process", metavar="ID", help="Only timers of this process.")
@click.option(
    "--state",
    "state_",
    type=click.Choice(["PENDING", "TRIGGERED", "CANCELED", "FAILED", "ANY"], case_sensitive=False),
    default="PENDING",
    show_default=True,
)
@oldest_or_newest
@paged
def timers(instance: str | None, process: str | None, state_: str, oldest: bool, **page: Any) -> None:
    """List timers and their due dates.

    `vivero fire KEY` fires a timer now, and `vivero move KEY DATE` changes its due date.

    \b
    Examples:
      vivero timers --instance 2251799813685251
      vivero timers --process reminder --json | jq -r .dueDate
    """
    filter = {
        "processInstanceKey": instance,
        "processDefinitionId": process,
        "state": None if state_ == "ANY" else state_,
    }
    columns = (
        ("key", field("timerKey")),
        ("due", time("dueDate")),
        ("state", state),
        ("type", field("type")),
        ("process", field("processDefinitionId")),
        ("instance", field("processInstanceKey")),
        ("element", field("elementId")),
        ("left", field("repetitions")),
    )
    list_page("timers", filter, "timerKey", columns, oldest, View(**page))


@click.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@address_option
def fire(keys: tuple[str, ...], address: str | None) -> None:
    """Fire timers now, whatever their due dates. A cycle continues with its next occurrence.

    \b
    Example:
      vivero timers --instance 2251799813685251 --json | jq -r .timerKey | xargs vivero fire
    """

    async def each(client: Client) -> None:
        for key in keys:
            await client.request("POST", f"/v2/timers/{key}/trigger")
            click.echo(f"fired {key}")

    talk(address, each)


class Moment(click.ParamType[str]):
    """A date and time with an offset."""

    name = "DATE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as error:
            self.fail(f"the text is not a date and time such as 2027-01-31T12:00:00Z: {error}", param, ctx)
        if moment.tzinfo is None:
            self.fail("the time zone is missing: add Z or an offset, as in 2027-01-31T12:00:00+01:00", param, ctx)
        return str(value)


@click.command()
@click.argument("key")
@click.argument("date", type=Moment())
@address_option
def move(key: str, date: str, address: str | None) -> None:
    """Move the due date of the timer KEY. With a date in the past, the timer fires at once.

    \b
    Example:
      vivero move 2251799813685260 2027-01-31T12:00:00Z
    """
    talk(address, lambda client: client.request("PATCH", f"/v2/timers/{key}", {"dueDate": date}))
    click.echo(f"moved {key} to {date}")
