"""The command `schema`."""

from __future__ import annotations

import click

from vivero.storage.schema.catalogue import DISTRIBUTED_FILE, SCHEMA_FILE


@click.command()
@click.option(
    "--distributed", is_flag=True, help="What changes for several servers of Citus: a trial, not to be run on."
)
def schema(distributed: bool) -> None:
    """Print the schema as SQL.

    \b
    Examples:
      vivero schema | less
      vivero schema --distributed > distributed.sql
    """
    click.echo((DISTRIBUTED_FILE if distributed else SCHEMA_FILE).read_text(encoding="utf-8"), nl=False)
