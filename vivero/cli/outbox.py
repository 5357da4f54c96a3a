"""The commands `outbox …`: deliveries of the outbox webhook, and its dead letters."""

from __future__ import annotations

import click

from vivero.cli.lists import MAX_PAGE, print_rows
from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client
from vivero.terminal_tables import Column, field, state, time

STATES = ("pending", "held", "dead", "dropped")
IDS = click.argument("ids", nargs=-1, required=True, metavar="ID…")


@click.group()
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
@click.option("--limit", type=click.IntRange(1, MAX_PAGE), default=50, show_default=True, help="At most this many.")
@address_option
@json_option
def list_(state_: str | None, limit: int, address: str | None, as_json: bool) -> None:
    """List what waits, dead letters first. What is delivered is gone."""
    found = talk(address, lambda client: client.deliveries(state_, limit))
    columns: list[Column] = [
        ("id", field("eventId")), ("type", field("type")), ("state", state), ("attempts", field("attempts")),
        ("due", time("due")), ("instance", field("rootProcessInstanceKey")), ("error", field("error")),
    ]  # fmt: skip
    print_rows(found["items"], columns, as_json)
    rest = found["page"]["totalItems"] - len(found["items"])
    if rest > 0 and not as_json:
        click.echo(f"{rest} more; see --limit", err=True)


@outbox.command()
@click.argument("id")
@address_option
def show(id: str, address: str | None) -> None:
    """Show one delivery as JSON, with its document."""
    say(talk(address, lambda client: client.delivery(id)))


@outbox.command()
@IDS
@address_option
def retry(ids: tuple[str, ...], address: str | None) -> None:
    """Give dead letters all of their attempts again."""
    _change(ids, address, "retry", "is tried again")


@outbox.command()
@IDS
@address_option
def drop(ids: tuple[str, ...], address: str | None) -> None:
    """Give dead letters up. The events behind them follow."""
    _change(ids, address, "drop", "is dropped")


def _change(ids: tuple[str, ...], address: str | None, action: str, done: str) -> None:
    async def work(client: Client) -> None:
        for id in ids:
            await client.change_delivery(id, action)
            click.echo(f"{id} {done}")

    talk(address, work)
