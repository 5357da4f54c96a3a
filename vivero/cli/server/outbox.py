"""The commands `outbox …`: deliveries of the outbox webhook, and its dead letters."""

from __future__ import annotations

import click

from vivero.cli.looking.lists import MAX_PAGE
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client import deliveries
from vivero.client.rest import Client
from vivero.terminal.terminal_tables import Column, field, state, time
from vivero.terminal.texts import echo

STATES = ("pending", "held", "dead", "dropped")
IDS = keys_argument("ID")


@click.group(cls=Group)
def outbox() -> None:
    """List, retry and drop deliveries of the outbox webhook.

    Events of an instance are delivered in their order. A dead letter holds those behind it.

    \b
    Examples:
      vivero outbox list --state dead
      vivero outbox retry 2251799813685300-0-2
      vivero outbox drop 2251799813685300-0-2
    """


@outbox.command("list")
@click.option("--state", "state_", type=click.Choice(STATES), help="Only deliveries in this state.  [any]")
@click.option(
    "--limit", type=click.IntRange(1, MAX_PAGE), metavar="N", default=50, show_default=True, help="At most this many."
)
@address_option
@json_option
def list_(state_: str | None, limit: int, address: str | None, as_json: bool) -> None:
    """List what waits, dead letters first. What is delivered is gone."""
    found = talk(address, lambda client: deliveries.search(client, state_, limit))
    columns: list[Column] = [
        Column("id", field("eventId")),
        Column("type", field("type")),
        Column("state", state),
        Column("attempts", field("attempts"), spare=1),
        Column("due", time("due")),
        Column("instance", field("rootProcessInstanceKey"), spare=2),
        Column("error", field("error"), wraps=True),
    ]
    print_rows(found["items"], columns, as_json)
    rest = found["page"]["totalItems"] - len(found["items"])
    if rest > 0 and not as_json:
        echo(f"{rest} more; see --limit", err=True)


@outbox.command()
@click.argument("id")
@address_option
@json_option
def show(id: str, address: str | None, as_json: bool) -> None:
    """Show one delivery as JSON, with its document."""
    say(talk(address, lambda client: deliveries.get(client, id)))


@outbox.command()
@IDS
@address_option
@json_option
def retry(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Give dead letters all of their attempts again."""
    _change(keys, address, "retry", "tried again", as_json)


@outbox.command()
@IDS
@address_option
@json_option
def drop(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Give dead letters up. The events behind them follow."""
    _change(keys, address, "drop", "dropped", as_json)


def _change(keys: tuple[str, ...], address: str | None, action: str, done: str, as_json: bool) -> None:
    async def work(client: Client, id: str) -> None:
        await deliveries.change(client, id, action)

    try_each(address, keys, work, done, as_json=as_json)
