"""The commands `timers`, `fire` and `move`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.filters import Selected, of_process_or_instance
from vivero.cli.shared.options import KEY, json_option
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import Client, path_part
from vivero.terminal.terminal_tables import Column, field, state, time


@click.command()
@of_process_or_instance("timers")
@click.option(
    "--state",
    "state_",
    type=click.Choice(["PENDING", "TRIGGERED", "CANCELED", "FAILED", "ANY"], case_sensitive=False),
    default="PENDING",
    show_default=True,
    help="Only timers in this state.",
)
@oldest_or_newest
@paged
def timers(selected: Selected, state_: str, oldest: bool, **page: Any) -> None:
    """List timers and their due dates.

    `vivero fire KEY` fires a timer now, and `vivero move KEY DATE` changes its due date.

    \b
    Examples:
      vivero timers --instance 2251799813685251
      vivero timers --process reminder | cut -f1,2
    """
    filter = {**selected, "state": None if state_ == "ANY" else state_}
    columns = (
        Column("key", field("timerKey")),
        Column("due", time("dueDate")),
        Column("state", state),
        Column("type", field("type"), spare=4),
        Column("process", field("processDefinitionId"), spare=3),
        Column("instance", field("processInstanceKey"), spare=1),
        Column("element", field("elementId"), spare=2),
        Column("left", field("repetitions"), spare=5),
    )
    list_page("timers", filter, "timerKey", columns, oldest, ListView(**page))


@click.command()
@keys_argument()
@address_option
@json_option
def fire(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Fire timers now, whatever their due dates. A cycle continues with its next occurrence.

    \b
    Examples:
      vivero fire 2251799813685260
      vivero timers --instance 2251799813685251 --keys | vivero fire -
    """
    try_each(address, keys, Client.fire, "fired", as_json=as_json, explain=_what_became_of_it)


async def _what_became_of_it(client: Client, key: str) -> str | None:
    timer = (await client.request("GET", f"/v2/timers/{path_part(key)}")).document
    return None if timer["state"] == "PENDING" else f"timer {key} waits no more: {timer['state']}"


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
@click.argument("key", metavar="KEY", type=KEY)
@click.argument("date", type=Moment())
@address_option
@json_option
def move(key: str, date: str, address: str | None, as_json: bool) -> None:
    """Move the due date of the timer KEY. With a date in the past, the timer fires at once.

    \b
    Example:
      vivero move 2251799813685260 2027-01-31T12:00:00Z
    """

    async def change(client: Client, key: str) -> None:
        await client.request("PATCH", f"/v2/timers/{path_part(key)}", {"dueDate": date})

    try_each(address, [key], change, "moved", as_json=as_json, explain=_what_became_of_it)
