"""The commands `instances`, `jobs` and `incidents`, and their common parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from vivero.cli.shared.filters import Selected, of_process_or_instance, of_processes
from vivero.cli.shared.options import json_option
from vivero.cli.shared.rows import Format, Rows, left_out
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Page
from vivero.config.json_input import parsed
from vivero.terminal.terminal_tables import Column, console, field, listed, state, time
from vivero.terminal.texts import echo

F = TypeVar("F", bound=Callable[..., Any])
PAGE, MAX_PAGE = 50, 1000


@dataclass(frozen=True, slots=True)
class ListView:
    """The page of a search to show, and the format."""

    address: str | None
    as_json: bool
    keys_only: bool
    limit: int | None
    after: str | None
    everything: bool

    @property
    def page(self) -> int:
        """The number of items to ask for at a time."""
        return self.limit or (MAX_PAGE if self.everything else PAGE)

    @property
    def format(self) -> Format:
        """The form in which the items are printed. Raises UsageError."""
        if self.as_json and self.keys_only:
            raise click.UsageError("--json and --keys exclude each other")
        return Format.JSON if self.as_json else Format.KEYS if self.keys_only else Format.TABLE


def paged(command: F) -> F:
    """Add the options of every list."""
    for option in (
        address_option,
        json_option,
        click.option("--keys", "keys_only", is_flag=True, help="Print keys only, one per line, for other commands."),
        click.option("--all", "everything", is_flag=True, help="Print all pages."),
        click.option("--after", metavar="CURSOR", help="Start after this cursor, which a page's last line shows."),
        click.option(
            "--limit",
            type=click.IntRange(1, MAX_PAGE),
            metavar="N",
            help=f"Rows per page.  [{PAGE}; with --all {MAX_PAGE}]",
        ),
    ):
        command = option(command)
    return command


def oldest_or_newest(command: F) -> F:
    """Add --oldest, which reverses the order."""
    return click.option("--oldest", is_flag=True, help="Oldest first; the default is newest first.")(command)


def variable_filter(text: str) -> dict[str, str]:
    """The filter of NAME=VALUE. A value that is no JSON is text. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"'{text}' is not NAME=VALUE", param_hint="--variable")
    try:
        known = parsed(value)
    except ValueError:
        known = value
    return {"name": name, "value": json.dumps(known, ensure_ascii=False, separators=(",", ":"))}


@click.command()
@click.option(
    "--state",
    "state_",
    type=click.Choice(["ACTIVE", "SUSPENDED", "COMPLETED", "TERMINATED"], case_sensitive=False),
    help="Only instances in this state.  [any]",
)
@of_processes("Only instances", version="of this version of a process")
@click.option("--tag", "tags", multiple=True, help="Only instances with this tag; may be repeated.")
@click.option(
    "--variable",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only instances with this value of a variable, as JSON or plain text; may be repeated.",
)
@click.option("--incident", "with_incident", is_flag=True, help="Only instances with incidents.")
@oldest_or_newest
@paged
def instances(
    state_: str | None,
    selected: Selected,
    tags: tuple[str, ...],
    variables: tuple[str, ...],
    with_incident: bool,
    oldest: bool,
    **page: Any,
) -> None:
    """List process instances.

    \b
    Examples:
      vivero instances --state ACTIVE --process order
      vivero instances --incident --keys
      vivero instances --variable customer=Ada --variable total=30
    """
    filter = {
        "state": state_,
        **selected,
        "tags": list(tags) or None,
        "variables": [variable_filter(text) for text in variables] or None,
        "hasIncident": True if with_incident else None,
    }
    columns = (
        Column("key", field("processInstanceKey")),
        Column("process", field("processDefinitionId")),
        Column("version", field("processDefinitionVersion"), spare=4),
        Column("state", state),
        Column("started", time("startDate"), spare=3),
        Column("ended", time("endDate"), spare=5),
        Column("business id", field("businessId"), spare=2),
        Column("tags", listed("tags"), spare=6),
    )
    list_page("process-instances", filter, "processInstanceKey", columns, oldest, ListView(**page))


@click.command()
@click.option("--type", "type_", metavar="TYPE", help="Only jobs of this type.")
@click.option("--state", "state_", metavar="STATE", help="CREATED, COMPLETED, FAILED, CANCELED, ERROR_THROWN, …")
@of_process_or_instance("jobs")
@oldest_or_newest
@paged
def jobs(type_: str | None, state_: str | None, selected: Selected, oldest: bool, **page: Any) -> None:
    """List jobs.

    \b
    Examples:
      vivero jobs --type charge-card --state CREATED
      vivero jobs --instance 2251799813685251
    """
    filter = {
        "type": type_,
        "state": None if state_ is None else state_.upper(),
        **selected,
    }
    columns = (
        Column("key", field("jobKey")),
        Column("type", field("type")),
        Column("state", state),
        Column("retries", field("retries"), spare=4),
        Column("process", field("processDefinitionId"), spare=6),
        Column("instance", field("processInstanceKey"), spare=1),
        Column("element", field("elementId"), spare=5),
        Column("worker", field("worker"), spare=8),
        Column("created", time("creationTime"), spare=7),
        Column("message", field("errorMessage"), spare=2, wraps=True),
    )
    list_page("jobs", filter, "jobKey", columns, oldest, ListView(**page))


@click.command()
@click.option(
    "--state",
    "state_",
    type=click.Choice(["ACTIVE", "RESOLVED", "ANY"], case_sensitive=False),
    default="ACTIVE",
    show_default=True,
    help="Only incidents in this state.",
)
@click.option("--type", "type_", metavar="TYPE", help="JOB_NO_RETRIES, IO_MAPPING_ERROR, CONDITION_ERROR, …")
@of_process_or_instance("incidents")
@oldest_or_newest
@paged
def incidents(state_: str, type_: str | None, selected: Selected, oldest: bool, **page: Any) -> None:
    """List incidents, which wait for a person's help.

    `vivero resolve KEY` retries the failed step.

    \b
    Examples:
      vivero incidents --process order
      vivero incidents --type job_no_retries --all --keys | vivero resolve -
    """
    filter = {
        "state": None if state_ == "ANY" else state_,
        "errorType": None if type_ is None else type_.upper(),
        **selected,
    }
    columns = (
        Column("key", field("incidentKey")),
        Column("type", field("errorType")),
        Column("state", state, spare=5),
        Column("process", field("processDefinitionId"), spare=3),
        Column("instance", field("processInstanceKey"), spare=2),
        Column("element", field("elementId"), spare=1),
        Column("since", time("creationTime"), spare=4),
        Column("message", field("errorMessage"), wraps=True),
    )
    list_page("incidents", filter, "incidentKey", columns, oldest, ListView(**page))


def list_page(
    resource: str,
    filter: dict[str, Any],
    key: str,
    columns: Sequence[Column],
    oldest: bool,
    view: ListView,
    sort: str | None = None,
) -> None:
    """Print one page of a search, or all pages. `sort`: by this field, if the search does not sort by keys."""
    chosen = {name: value for name, value in filter.items() if value is not None}
    order: dict[str, Any] = {"sort": key if sort is None else sort, "descending": not oldest}

    rows = Rows(columns, view.format, key)

    async def pages(client: Client) -> None:
        after, shown = view.after, 0
        hidden: Sequence[str] = ()
        while True:
            page = await client.search(resource, chosen, **order, limit=view.page, after=after)
            shown += len(page.items)
            hidden = rows.show(page.items)
            after = page.after
            if after is None or not view.everything:
                break
        if rows.format is Format.TABLE:
            _say_rest(page, shown, hidden)

    talk(view.address, pages)


def _say_rest(page: Page, shown: int, hidden: Sequence[str]) -> None:
    """Print the total, the cursor of the next page and what has no room to stderr, because they are not rows."""
    parts = [f"{shown:,} of {total(page, shown)}"]
    if hidden:
        parts.append(left_out(hidden))
    if page.after is not None and shown < page.total:
        parts.append(f"next page: --after {page.after}")
    width = console(stderr=True).width if sys.stderr.isatty() else None
    for line in in_lines(parts, width):
        echo(line, err=True)


def in_lines(parts: Sequence[str], width: int | None) -> list[str]:
    """The parts with semicolons in between; where a line would be too long, the next one begins. None: in one line."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}; {part}"
        if width is None or len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def total(page: Page, shown: int = 0) -> str:
    """The number of all matches. The server counts no further than 10,000: 10,000+."""
    return f"{max(page.total, shown):,}{'+' if page.has_more and shown <= page.total else ''}"
