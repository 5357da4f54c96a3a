"""The command `top`."""

from __future__ import annotations

import itertools

import click
import trio
from rich.live import Live
from rich.table import Table

from vivero.cli.failures import Interrupted
from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client, ClientError
from vivero.terminal_tables import console
from vivero.top import Between, Reading, read, rows


@click.command()
@click.option(
    "--every",
    "every_s",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    default=1.0,
    show_default=True,
    help="Seconds between readings.",
)
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after so many readings.  [until Ctrl-C]")
@json_option
@address_option
def top(every_s: float, count: int | None, as_json: bool, address: str | None) -> None:
    """Watch one node: throughput, latency, lag, jobs, incidents, timers, restarts. Ctrl-C ends it.

    It goes on while the node restarts. Figures of the whole database come from one node of a cluster.

    \b
    Examples:
      vivero top
      vivero top --count 1 --json
    """
    try:
        talk(address, lambda client: _watch(client, every_s, count, as_json))
    except Interrupted:
        return


async def _watch(client: Client, every_s: float, count: int | None, as_json: bool) -> None:
    last = await _read(client)
    with Live(console=console(), auto_refresh=False, transient=False) as live:
        for _ in itertools.count() if count is None else range(count):
            await trio.sleep(every_s)
            try:
                first, last = last, await _read(client)
            except ClientError as error:
                if as_json:
                    raise
                silent_s = trio.current_time() - last.at
                live.update(_table([("no answer", f"for {silent_s:.0f} s: {error}")]), refresh=True)
                continue
            shown = rows(Between(first, last))
            if as_json:
                say(dict(shown))
            else:
                live.update(_table(shown), refresh=True)


async def _read(client: Client) -> Reading:
    text = await client.metrics()
    try:
        return read(text, trio.current_time())
    except ValueError as error:
        raise ClientError(f"the metrics cannot be read: {error}") from error


def _table(shown: list[tuple[str, str]]) -> Table:
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold")
    made.add_column()
    for name, figures in shown:
        made.add_row(name, figures)
    return made
