"""The command `forms`."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.terminal.terminal_tables import Column, field


@click.command()
@click.option("--id", "form_id", metavar="ID", help="Only versions of the form with this id.")
@oldest_or_newest
@paged
def forms(form_id: str | None, oldest: bool, **page: Any) -> None:
    """List the versions of deployed forms.

    \b
    Example:
      vivero forms --id review-claim
    """
    columns = (
        Column("key", field("formKey")),
        Column("form", field("formId")),
        Column("version", field("version")),
        Column("tag", field("versionTag"), spare=2),
        Column("file", field("resourceName"), spare=1),
    )
    list_page("forms", {"formId": form_id}, "formKey", columns, oldest, ListView(**page))
