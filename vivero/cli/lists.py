"""The commands `instances`, `jobs` and `incidents`, and their common parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client, Document, Page
from vivero.terminal_tables import Column, console, field, state, table, time

F = TypeVar("F", bound=Callable[..., Any])
MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class View:
    """The page of a search to show, and the format."""

    address: str | None
    as_json: bool
    limit: int
    after: str | None
    everything: bool


def paged(command: F) -> F:
    """Add the options of every list."""
    for option in (
        address_option,
        json_option,
        click.option("--all", "everything", is_flag=True, help="Print all pages."),
        click.option("--after", metavar="CURSOR", help="Start after this cursor, which a page's last line shows."),
        click.option("--limit", type=click.IntRange(1, MAX_PAGE), default=50, show_default=True, help="Rows per page."),
    ):
        command = option(command)
    return command


def oldest_or_newest(command: F) -> F:
    """Add --oldest, which reverses the order."""
    return click.option("--oldest", is_flag=True, help="Oldest first; the default is newest first.")(command)


@click.command()
@click.option(
    "--state",
    "state_",
    type=click.Choice(["ACTIVE", "COMPLETED", "TERMINATED"], case_sensitive=False),
    help="Only instances in this state.  [any]",
)
@click.option("--process", metavar="ID", help="Only instances of this process.")
@click.option("--version", type=click.IntRange(1), help="Only instances of this version of a process.")
@click.option("--business-id", metavar="ID", help="Only instances with this business id.")
@click.option("--tag", "tags", multiple=True, help="Only instances with this tag; may be repeated.")
@click.option("--incident", "with_incident", is_flag=True, help="Only instances with incidents.")
@oldest_or_newest
@paged
def instances(
    state_: str | None,
    process: str | None,
    version: int | None,
    business_id: str | None,
    tags: tuple[str, ...],
    with_incident: bool,
    oldest: bool,
    **page: Any,
) -> None:
    """List process instances.

    \b
    Examples:
      vivero instances --state ACTIVE --process order
      vivero instances --incident --json | jq -r .processInstanceKey
    """
    filter = {
        "state": state_,
        "processDefinitionId": process,
        "processDefinitionVersion": version,
        "businessId": business_id,
        "tags": list(tags) or None,
        "hasIncident": True if with_incident else None,
    }
    columns = (
        ("key", field("processInstanceKey")),
        ("process", field("processDefinitionId")),
        ("version", field("processDefinitionVersion")),
        ("state", state),
        ("started", time("startDate")),
        ("ended", time("endDate")),
        ("business id", field("businessId")),
        ("tags", lambda item: " ".join(item["tags"])),
    )
    list_page("process-instances", filter, "processInstanceKey", columns, oldest, View(**page))


@click.command()
@click.option("--type", "type_", metavar="TYPE", help="Only jobs of this type.")
@click.option("--state", "state_", metavar="STATE", help="CREATED, COMPLETED, FAILED, CANCELED, ERROR_THROWN, …")
@click.option("--process", metavar="ID", help="Only jobs of this process.")
@click.option("--instance", metavar="KEY", help="Only jobs of this process instance.")
@oldest_or_newest
@paged
def jobs(
    type_: str | None, state_: str | None, process: str | None, instance: str | None, oldest: bool, **page: Any
) -> None:
    """List jobs.

    \b
    Examples:
      vivero jobs --type charge-card --state CREATED
      vivero jobs --instance 2251799813685251
    """
    filter = {
        "type": type_,
        "state": None if state_ is None else state_.upper(),
        "processDefinitionId": process,
        "processInstanceKey": instance,
    }
    columns = (
        ("key", field("jobKey")),
        ("type", field("type")),
        ("state", state),
        ("retries", field("retries")),
        ("process", field("processDefinitionId")),
        ("instance", field("processInstanceKey")),
        ("element", field("elementId")),
        ("worker", field("worker")),
        ("created", time("creationTime")),
        ("message", field("errorMessage")),
    )
    list_page("jobs", filter, "jobKey", columns, oldest, View(**page))


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
@click.option("--process", metavar="ID", help="Only incidents of this process.")
@click.option("--instance", metavar="KEY", help="Only incidents of this process instance.")
@oldest_or_newest
@paged
def incidents(
    state_: str, type_: str | None, process: str | None, instance: str | None, oldest: bool, **page: Any
) -> None:
    """List incidents, which wait for a person's help.

    `vivero resolve KEY` retries the failed step.

    \b
    Examples:
      vivero incidents --process order
      vivero incidents --json | jq -r .incidentKey | xargs vivero resolve
    """
    filter = {
        "state": None if state_ == "ANY" else state_,
        "errorType": None if type_ is None else type_.upper(),
        "processDefinitionId": process,
        "processInstanceKey": instance,
    }
    columns = (
        ("key", field("incidentKey")),
        ("type", field("errorType")),
        ("state", state),
        ("process", field("processDefinitionId")),
        ("instance", field("processInstanceKey")),
        ("element", field("elementId")),
        ("since", time("creationTime")),
        ("message", field("errorMessage")),
    )
    list_page("incidents", filter, "incidentKey", columns, oldest, View(**page))


def list_page(
    resource: str, filter: dict[str, Any], key: str, columns: Sequence[Column], oldest: bool, view: View
) -> None:
    """Print one page of a search, or all pages."""
    chosen = {name: value for name, value in filter.items() if value is not None}

    async def pages(client: Client) -> None:
        after, shown = view.after, 0
        while True:
            page = await client.search(resource, chosen, sort=key, descending=not oldest, limit=view.limit, after=after)
            shown += len(page.items)
            print_rows(page.items, columns, view.as_json)
            after = page.after
            if after is None or not view.everything:
                break
        _say_rest(page, shown, view)

    talk(view.address, pages)


def print_rows(items: Sequence[Document], columns: Sequence[Column], as_json: bool) -> None:
    """Print a table, or one line of JSON for each item."""
    if as_json:
        for item in items:
            say(item)
    elif items:
        console().print(table(items, columns))


def _say_rest(page: Page, shown: int, view: View) -> None:
    """Print the total and the cursor of the next page to stderr, because they are not rows."""
    if view.as_json:
        return
    more = f"; next page: --after {page.after}" if page.after is not None and shown < page.total else ""
    click.echo(f"{shown} of {page.total}{more}", err=True)
