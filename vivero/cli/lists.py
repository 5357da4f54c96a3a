"""Commands that list: instances, jobs, incidents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client, Document, Page
from vivero.pictures import Column, console, field, state, table, time

F = TypeVar("F", bound=Callable[..., Any])
MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class View:
    """Which page of a search, and how to show it."""

    address: str | None
    as_json: bool
    limit: int
    after: str | None
    everything: bool


def paged(command: F) -> F:
    """Options of every list."""
    for option in (
        address_option,
        json_option,
        click.option("--all", "everything", is_flag=True, help="Everything, page by page."),
        click.option("--after", metavar="CURSOR", help="Go on behind a page; its last line says how."),
        click.option("--limit", type=click.IntRange(1, MAX_PAGE), default=50, show_default=True, help="Rows a page."),
    ):
        command = option(command)
    return command


def oldest_or_newest(command: F) -> F:
    """--oldest: the other way round."""
    return click.option("--oldest", is_flag=True, help="Oldest first; else newest first.")(command)


@click.command()
@click.option(
    "--state",
    "state_",
    type=click.Choice(["ACTIVE", "COMPLETED", "TERMINATED"], case_sensitive=False),
    help="In this state.  [any]",
)
@click.option("--process", metavar="ID", help="Of this process.")
@click.option("--version", type=click.IntRange(1), help="Of this version of it.")
@click.option("--business-id", metavar="ID", help="With this business id.")
@click.option("--tag", "tags", multiple=True, help="With this tag; may be given several times.")
@click.option("--incident", "with_incident", is_flag=True, help="Only those that wait for help.")
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
@click.option("--type", "type_", metavar="TYPE", help="Of this type.")
@click.option("--state", "state_", metavar="STATE", help="CREATED, COMPLETED, FAILED, CANCELED, ERROR_THROWN, …")
@click.option("--process", metavar="ID", help="Of this process.")
@click.option("--instance", metavar="KEY", help="Of this process instance.")
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
    help="In this state.",
)
@click.option("--type", "type_", metavar="TYPE", help="JOB_NO_RETRIES, IO_MAPPING_ERROR, CONDITION_ERROR, …")
@click.option("--process", metavar="ID", help="Of this process.")
@click.option("--instance", metavar="KEY", help="Of this process instance.")
@oldest_or_newest
@paged
def incidents(
    state_: str, type_: str | None, process: str | None, instance: str | None, oldest: bool, **page: Any
) -> None:
    """List incidents: what waits for somebody's help.

    `vivero resolve KEY` tries again what failed.

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


def list_page(what: str, filter: dict[str, Any], key: str, columns: Sequence[Column], oldest: bool, view: View) -> None:
    """Print a page, or page after page."""
    chosen = {name: value for name, value in filter.items() if value is not None}

    async def pages(client: Client) -> None:
        after, shown = view.after, 0
        while True:
            page = await client.search(what, chosen, sort=key, descending=not oldest, limit=view.limit, after=after)
            shown += len(page.items)
            _print(page.items, columns, view)
            after = page.after
            if after is None or not view.everything:
                break
        _say_rest(page, shown, view)

    talk(view.address, pages)


def _print(items: list[Document], columns: Sequence[Column], view: View) -> None:
    if view.as_json:
        for item in items:
            say(item)
    elif items:
        console().print(table(items, columns))


def _say_rest(page: Page, shown: int, view: View) -> None:
    """How many there are, and how to see the next: on stderr, as it is no row."""
    if view.as_json:
        return
    more = f"; the next: --after {page.after}" if page.after is not None and shown < page.total else ""
    click.echo(f"{shown} of {page.total}{more}", err=True)
