"""The commands `background …`: background jobs of the program and of your own."""

from __future__ import annotations

import json
from typing import Any

import click

from vivero.cli.lists import MAX_PAGE, print_rows
from vivero.cli.options import address_option, json_option, say, talk
from vivero.client import Client
from vivero.terminal_tables import Column, field, state, time

STATES = ("pending", "running", "failed")
IDS = click.argument("ids", nargs=-1, required=True, metavar="ID…")


@click.group()
def background() -> None:
    """List, run, pause, cancel and retry background jobs.

    A background job is code of yours that the server runs: `vivero up --jobs my_jobs.py`, or one of the program's own
    chores, whose names begin with `vivero.`. The jobs of process instances are another thing: see `vivero jobs`.

    \b
    Examples:
      vivero background types
      vivero background list --state failed
      vivero background retry 0198c6f2-…
      vivero background pause nightly-report
    """


@background.command("list")
@click.option("--type", "type_", metavar="TYPE", help="Only executions of this type.")
@click.option("--state", "state_", type=click.Choice(STATES), help="Only executions in this state.  [any]")
@click.option("--limit", type=click.IntRange(1, MAX_PAGE), default=50, show_default=True, help="At most this many.")
@address_option
@json_option
def list_(type_: str | None, state_: str | None, limit: int, address: str | None, as_json: bool) -> None:
    """List executions that wait, run or have failed. What has succeeded is gone."""
    filter = {"type": type_, "state": state_}
    found = talk(address, lambda client: client.background_jobs(filter, limit=limit))
    columns: list[Column] = [
        ("id", field("id")), ("type", field("type")), ("state", state), ("attempts", field("attempts")),
        ("due", time("executeAt")), ("node", field("nodeId")), ("error", field("error")),
    ]  # fmt: skip
    print_rows(found["items"], columns, as_json)
    rest = found["page"]["totalItems"] - len(found["items"])
    if rest > 0 and not as_json:
        click.echo(f"{rest} more; see --limit", err=True)


@background.command()
@address_option
@json_option
def types(address: str | None, as_json: bool) -> None:
    """List the types, and how many of their executions wait, run and have failed."""
    columns: list[Column] = [
        ("type", field("type")), ("pending", field("pending")), ("running", field("running")),
        ("failed", field("failed")), ("schedule", field("schedule")), ("paused", field("paused")),
        ("nodes", field("nodes")),
    ]  # fmt: skip
    print_rows(talk(address, lambda client: client.background_job_types())["items"], columns, as_json)


@background.command()
@address_option
@json_option
def consumers(address: str | None, as_json: bool) -> None:
    """List consumers of events, and how far behind they are in each partition."""
    columns: list[Column] = [
        ("type", field("type")), ("partition", field("partitionId")), ("position", field("position")),
        ("behind", field("behind")), ("acknowledged", time("acknowledged")),
    ]  # fmt: skip
    print_rows(talk(address, lambda client: client.background_job_consumers())["items"], columns, as_json)


@background.command()
@click.argument("id")
@address_option
@json_option
def show(id: str, address: str | None, as_json: bool) -> None:
    """Show one execution, with its error."""
    found = talk(address, lambda client: client.background_job(id))
    if as_json:
        say(found)
        return
    for name, value in found.items():
        if value is not None:
            click.echo(f"{name:14} {value if isinstance(value, str | int) else json.dumps(value)}")


@background.command()
@click.argument("type_", metavar="TYPE")
@click.option("--payload", default="null", metavar="JSON", help="A JSON document for the handler.")
@click.option("--at", metavar="TIME", help="Run at this time, such as 2027-01-31T03:00:00Z.  [now]")
@click.option("--key", metavar="KEY", help="Add nothing while an execution with this key waits or runs.")
@address_option
def add(type_: str, payload: str, at: str | None, key: str | None, address: str | None) -> None:
    """Add an execution of a type, and print its id."""
    try:
        document: Any = json.loads(payload)
    except ValueError as error:
        raise click.UsageError(f"--payload is not valid JSON: {error}") from error
    click.echo(talk(address, lambda client: client.add_background_job(type_, document, at, key))["id"])


def _change(ids: tuple[str, ...], address: str | None, action: str, done: str) -> None:
    async def work(client: Client) -> None:
        for id in ids:
            await client.change_background_job(id, action)
            click.echo(f"{id} {done}")

    talk(address, work)


@background.command()
@IDS
@address_option
def run(ids: tuple[str, ...], address: str | None) -> None:
    """Run pending executions now."""
    _change(ids, address, "run", "is due")


@background.command()
@IDS
@address_option
def retry(ids: tuple[str, ...], address: str | None) -> None:
    """Give failed executions all of their attempts again."""
    _change(ids, address, "retry", "is tried again")


@background.command()
@IDS
@address_option
def cancel(ids: tuple[str, ...], address: str | None) -> None:
    """Cancel executions that run. They have failed, without another attempt."""
    _change(ids, address, "cancel", "is cancelled")


@background.command()
@IDS
@address_option
def delete(ids: tuple[str, ...], address: str | None) -> None:
    """Delete executions that have failed or wait."""
    _change(ids, address, "delete", "is deleted")


@background.command()
@click.argument("type_", metavar="TYPE")
@address_option
def pause(type_: str, address: str | None) -> None:
    """Begin no more runs of a type, on any node. What runs goes on."""
    talk(address, lambda client: client.pause_background_jobs(type_, True))
    click.echo(f"{type_} is paused")


@background.command()
@click.argument("type_", metavar="TYPE")
@address_option
def resume(type_: str, address: str | None) -> None:
    """Run a paused type again."""
    talk(address, lambda client: client.pause_background_jobs(type_, False))
    click.echo(f"{type_} runs again")
