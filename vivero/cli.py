"""The command line."""

from __future__ import annotations

from pathlib import Path

import click
import trio

from vivero import config, program


@click.group()
def main() -> None:
    """A BPMN 2.0 workflow engine on PostgreSQL."""


@main.command()
@click.option("--port", type=int)
@click.option("--data-dir", type=click.Path(path_type=Path))
@click.option("--database-url")
@click.option("--chaos", is_flag=True, default=None)
def up(port: int | None, data_dir: Path | None, database_url: str | None, chaos: bool | None) -> None:
    """Start the server."""
    settings = config.load(
        flags={"api.port": port, "database.data_dir": data_dir, "database.url": database_url, "chaos": chaos}
    )
    trio.run(lambda: program.up(settings, ready=lambda ready: click.echo(f"ready at {ready.address}")))
