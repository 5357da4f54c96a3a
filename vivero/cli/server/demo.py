"""The command `demo`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from vivero import embedded, logs
from vivero.cli.server.up import EXPECTED
from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.running_servers import published
from vivero.cli.shared.settings import settings
from vivero.client.rest import ClientError
from vivero.program import demo as show
from vivero.program.program import Ready
from vivero.terminal import terminal_tables

PACE_S = 0.4


@click.command()
@click.option("--exit", "leave", is_flag=True, help="End after the show.")
@click.option("--port", type=int, metavar="N", help="Listen on this port; 0 selects a free one.  [8080]")
@click.option(
    "--data-dir", type=click.Path(path_type=Path), metavar="DIR", help="Data directory of the embedded PostgreSQL."
)
def demo(leave: bool, port: int | None, data_dir: Path | None) -> None:
    """Watch an order process run, from deployment to end.

    The command starts a server with its own PostgreSQL, deploys examples/order/order.bpmn, starts five orders, does the
    work of their jobs and shows the orders in a table. Then it plants instances in every situation, once, and the
    server stays up for you to try. It keeps its data.

    \b
    Examples:
      vivero demo
      vivero demo --exit --port 0
    """
    root = data_dir or embedded.default_root().with_name("vivero-demo")
    chosen = settings(None, api__port=port, database__data_dir=root, control_clock=True)
    logs.configure(chosen.log_format, "warning")
    console = terminal_tables.console()
    pace_s = PACE_S if console.is_terminal else 0.0
    with ExitStack() as running:

        def serving(ready: Ready) -> None:
            running.enter_context(published(ready.address, None, chosen))

        run(
            lambda: show.run(chosen, console, leave=leave, pace_s=pace_s, serving=serving),
            {**EXPECTED, ClientError: Failure},
        )
