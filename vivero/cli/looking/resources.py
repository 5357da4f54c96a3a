"""The command `resources`."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.terminal.terminal_tables import Column, field


@click.command()
@click.option("--id", "resource_id", metavar="ID", help="Only versions of the resource with this id.")
@oldest_or_newest
@paged
def resources(resource_id: str | None, oldest: bool, **page: Any) -> None:
    """List the versions of deployed files that are neither models nor forms.

    \b
    Example:
      vivero resources --id welcome.md
    """
    columns = (
        Column("key", field("resourceKey")),
        Column("resource", field("resourceId")),
        Column("version", field("version")),
        Column("tag", field("versionTag"), spare=2),
        Column("file", field("resourceName"), spare=1),
    )
    list_page("resources", {"resourceId": resource_id}, "resourceKey", columns, oldest, ListView(**page))
