"""The command `top`."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import trio
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from vivero.cli.shared.admin_port import admin_address, processes_options, talk_to_admin
from vivero.cli.shared.failures import Interrupted
from vivero.cli.shared.options import Seconds, json_option, say
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, ClientError, Document
from vivero.terminal import top_processes
from vivero.terminal.terminal_tables import console
from vivero.terminal.texts import as_markup
from vivero.terminal.top import Between, MetricReading, read, rows


@click.command()
@click.option(
    "--every",
    "every_s",
    type=Seconds(0.1),
    metavar="SECONDS",
    default=1.0,
    show_default=True,
    help="Seconds between readings.",
)
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after so many readings.  [until Ctrl-C]")
@processes_options("Watch all processes of `vivero up --processes N`.")
@json_option
@address_option
def top(
    every_s: float,
    count: int | None,
    processes: bool,
    admin: str | None,
    file: Path | None,
    as_json: bool,
    address: str | None,
) -> None:
    """Watch one node: throughput, latency, lag, jobs, incidents, timers, restarts. Ctrl-C ends it.

    It goes on while the node restarts. Figures of the whole database come from one node of a cluster.

    With --processes, watch a program with several processes: all of them together, and a line for each. Only the admin
    port knows them. Its address is that of the settings `admin.host` and `admin.port`: give the same --config as to the
    server.

    \b
    Examples:
      vivero top
      vivero top --processes
      vivero top --count 1 --json
    """
    shown = Shown(every_s, count, as_json)
    try:
        if processes or admin is not None:
            talk_to_admin(admin or admin_address(file), lambda client: _watch(client, shown, _read_all, show_all))
        else:
            talk(address, lambda client: _watch(client, shown, _read_one, show_one))
    except Interrupted:
        return


@dataclass(frozen=True, slots=True)
class Shown:
    """The period, and the form."""

    every_s: float
    count: int | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a server at one time. `processes`: those of the admin port."""

    metrics: MetricReading
    processes: Sequence[Document] = ()


@dataclass(frozen=True, slots=True)
class TopView:
    """Two answers, for programs and for people."""

    document: Document
    screen: Callable[[int], RenderableType]
    """Gives what fits on a terminal with this number of lines."""


async def _watch(
    client: Client,
    shown: Shown,
    ask: Callable[[Client], Awaitable[Answers]],
    view: Callable[[Between, Answers], TopView],
) -> None:
    last = await ask(client)
    screen = console()
    with Live(console=screen, auto_refresh=False, transient=False) as live:
        for _ in itertools.count() if shown.count is None else range(shown.count):
            await trio.sleep(shown.every_s)
            try:
                first, last = last, await ask(client)
            except ClientError as error:
                if shown.as_json:
                    raise
                silent_s = trio.current_time() - last.metrics.at
                live.update(_table([("no answer", f"for {silent_s:.0f} s: {error}")]), refresh=True)
                continue
            found = view(Between(first.metrics, last.metrics), last)
            if shown.as_json:
                say(found.document)
            else:
                live.update(found.screen(screen.height), refresh=True)


async def _read_one(client: Client) -> Answers:
    return Answers(await _metrics(client))


async def _read_all(client: Client) -> Answers:
    processes = (await client.processes())["processes"]
    return Answers(await _metrics(client), processes)


async def _metrics(client: Client) -> MetricReading:
    text = await client.metrics()
    try:
        return read(text, trio.current_time())
    except ValueError as error:
        raise ClientError(f"the metrics cannot be read: {error}") from error


def show_one(between: Between, _last: Answers) -> TopView:
    """One node."""
    shown = rows(between)
    return TopView({name: figures for name, figures in shown if name}, lambda _height: _table(shown))


def show_all(between: Between, last: Answers) -> TopView:
    """All processes together, and a line for each. A terminal shows no more lines than it has."""
    together = top_processes.rows(between, last.processes)
    each = top_processes.lines(between, last.processes)

    def screen(height: int) -> RenderableType:
        fitting_lines = max(height - len(together) - 2, 1)
        return Group(_table(together), _table_of_processes(each, fitting_lines))

    return TopView(dict(together) | {"each": each}, screen)


def _table(shown: Sequence[tuple[str, str]]) -> Table:
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold")
    made.add_column()
    for name, figures in shown:
        made.add_row(name, as_markup(figures))
    return made


def _table_of_processes(each: Sequence[Document], most: int) -> Table:
    """A line for each process. If there are more than `most`, those with trouble come first; the last is a count."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for number, name in enumerate(top_processes.COLUMNS):
        made.add_column(name, justify="left" if number < 2 else "right", no_wrap=True)
    fitting = each if len(each) <= most else sorted(each, key=lambda line: line["health"] == "healthy")[: most - 1]
    for line in fitting:
        made.add_row(*(_coloured(line[name]) for name in top_processes.COLUMNS))
    if left_out := len(each) - len(fitting):
        made.add_row("…", f"{left_out} more")
    return made


def _coloured(text: str) -> str:
    colour = {"healthy": "green", "unhealthy": "red", "no answer": "red"}.get(text)
    return as_markup(text) if colour is None else f"[{colour}]{text}[/]"
