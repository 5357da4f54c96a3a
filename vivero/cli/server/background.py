"""The commands `background …`: background jobs of the program and of your own."""

from __future__ import annotations

import click

from vivero.cli.looking.lists import MAX_PAGE
from vivero.cli.processes.changes import check_target
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import confirm, json_of, json_option, say, tell, yes_option
from vivero.cli.shared.rows import print_fields, print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client import background_jobs
from vivero.client.rest import Client, ClientError
from vivero.terminal.terminal_tables import Column, field, state, time
from vivero.terminal.texts import echo

STATES = ("pending", "running", "failed")
DELETABLE = ("failed", "pending")
IDS = keys_argument("ID")
kind_option = click.option(
    "--kind",
    type=click.Choice(("user", "chore", "any")),
    help="Your jobs, the program's own chores, or both.  [user]",
)


@click.group(cls=Group)
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
      vivero background drop old-mirror
    """


@background.command("list")
@click.option("--type", "type_", metavar="TYPE", help="Only executions of this type.")
@click.option("--state", "state_", type=click.Choice(STATES), help="Only executions in this state.  [any]")
@kind_option
@click.option(
    "--limit", type=click.IntRange(1, MAX_PAGE), metavar="N", default=50, show_default=True, help="At most this many."
)
@address_option
@json_option
def list_(
    type_: str | None, state_: str | None, kind: str | None, limit: int, address: str | None, as_json: bool
) -> None:
    """List executions that wait, run or have failed. What has succeeded is gone."""
    filter = {"type": type_, "state": state_, "kind": kind}
    found = talk(address, lambda client: background_jobs.search(client, filter, limit=limit))
    columns: list[Column] = [
        Column("id", field("id")),
        Column("type", field("type")),
        Column("state", state),
        Column("attempts", field("attempts"), spare=1),
        Column("due", time("executeAt")),
        Column("node", field("nodeId"), spare=2),
        Column("error", lambda item: (item["error"] or "").rpartition("\n")[2], wraps=True),
    ]
    print_rows(found["items"], columns, as_json)
    rest = found["page"]["totalItems"] - len(found["items"])
    if rest > 0 and not as_json:
        echo(f"{rest} more; see --limit", err=True)


@background.command()
@kind_option
@address_option
@json_option
def types(kind: str | None, address: str | None, as_json: bool) -> None:
    """List the types, and how many of their executions wait, run and have failed."""
    columns: list[Column] = [
        Column("type", field("type")),
        Column("pending", field("pending")),
        Column("running", field("running")),
        Column("failed", field("failed")),
        Column("schedule", field("schedule"), spare=1, wraps=True),
        Column("paused", field("paused")),
        Column("nodes", field("nodes"), spare=2),
    ]
    found = talk(address, lambda client: background_jobs.types(client, kind or "user"))["items"]
    print_rows(found, columns, as_json)
    for each in found:
        if each["pending"] and not each["nodes"] and not as_json:
            echo(f"no node runs {each['type']}: {each['pending']} of its executions wait", err=True)


@background.command()
@address_option
@json_option
def consumers(address: str | None, as_json: bool) -> None:
    """List consumers of events, and how far behind they are in each partition."""
    columns: list[Column] = [
        Column("type", field("type")),
        Column("partition", field("partitionId")),
        Column("position", field("position")),
        Column("behind", field("behind")),
        Column("acknowledged", time("acknowledged")),
    ]
    print_rows(talk(address, lambda client: background_jobs.consumers(client))["items"], columns, as_json)


@background.command()
@keys_argument("TYPE")
@address_option
@json_option
def drop(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Forget consumers of events that no node runs any more.

    They keep old logs no longer. A consumer that comes back begins like a new one. What the outbox (vivero-outbox) has
    not delivered is given up.
    """

    async def work(client: Client, type: str) -> None:
        await background_jobs.drop_consumer(client, type)

    try_each(address, keys, work, "dropped", as_json=as_json)


@background.command()
@click.argument("id")
@address_option
@json_option
def show(id: str, address: str | None, as_json: bool) -> None:
    """Show one execution, with its error."""
    found = talk(address, lambda client: background_jobs.get(client, id))
    if as_json:
        say(found)
        return
    print_fields(found)


@background.command()
@click.argument("type_", metavar="TYPE")
@click.option("--payload", default="null", metavar="JSON", help="A JSON document for the handler.")
@click.option("--at", metavar="TIME", help="Run at this time, such as 2027-01-31T03:00:00Z.  [now]")
@click.option("--key", metavar="KEY", help="Add nothing while an execution with this key waits or runs.")
@click.option("--allow-unknown", is_flag=True, help="Add it also if no node runs the type yet.")
@address_option
@json_option
def add(
    type_: str, payload: str, at: str | None, key: str | None, allow_unknown: bool, address: str | None, as_json: bool
) -> None:
    """Add an execution of a type, and print its id."""
    try:
        document = json_of(payload)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--payload") from error
    added = talk(address, lambda client: background_jobs.add(client, type_, document, at, key, allow_unknown))
    if as_json:
        say(added)
    else:
        echo(added["id"])


def _change(keys: tuple[str, ...], address: str | None, action: str, done: str, as_json: bool) -> None:
    async def work(client: Client, id: str) -> None:
        await background_jobs.change(client, id, action)

    try_each(address, keys, work, done, as_json=as_json)


@background.command()
@IDS
@address_option
@json_option
def run(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Run pending executions now."""
    _change(keys, address, "run", "due", as_json)


@background.command()
@IDS
@address_option
@json_option
def retry(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Give failed executions all of their attempts again."""
    _change(keys, address, "retry", "tried again", as_json)


@background.command()
@IDS
@address_option
@json_option
def cancel(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Cancel executions that run. They have failed, without another attempt."""
    _change(keys, address, "cancel", "cancelled", as_json)


@background.command()
@keys_argument("ID", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete everything that matches.")
@click.option("--type", "type_", metavar="TYPE", help="With --all: only executions of this type.")
@click.option("--state", "state_", type=click.Choice(DELETABLE), help="With --all: only in this state.  [failed]")
@click.option("--failed-before", metavar="TIME", help="With --all: only executions that failed before.")
@yes_option
@address_option
@json_option
def delete(
    keys: tuple[str, ...],
    everything: bool,
    type_: str | None,
    state_: str | None,
    failed_before: str | None,
    yes: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Delete executions that have failed or wait.

    With --all, everything that matches: what has failed, or, with --state pending and a type, what waits. What runs,
    schedules and consumers stay.

    \b
    Examples:
      vivero background delete 0198c6f2-…
      vivero background delete --all --state failed
      vivero background delete --all --failed-before 2026-01-01T00:00:00Z
    """
    chosen = {"--type": type_, "--state": state_, "--failed-before": failed_before}
    check_target(keys, everything, chosen)
    if not everything:
        _change(keys, address, "delete", "deleted", as_json)
        return
    if not any(chosen.values()):
        raise click.UsageError("name what to delete, such as --type; all that has failed: --state failed")
    filter = {"type": type_, "state": state_, "failedBefore": failed_before}
    _delete_all({name: value for name, value in filter.items() if value}, yes, address, as_json)


def _delete_all(filter: dict[str, str], yes: bool, address: str | None, as_json: bool) -> None:
    """Delete all that match, some at a time: each request is short."""

    async def work(client: Client) -> None:
        texts = ", ".join(f"{name} {value}" for name, value in filter.items())
        confirm(f"delete all executions that match ({texts})?", yes=yes)
        deleted, more = 0, True
        while more:
            done = await background_jobs.delete(client, filter)
            deleted, more = deleted + done["deleted"], done["more"]
            if more and not done["deleted"]:
                raise ClientError("the server deletes nothing although more match: is it a Vivero server?")
        tell(as_json, f"deleted {deleted} executions", deleted=deleted)

    talk(address, work)


@background.command()
@keys_argument("TYPE")
@address_option
@json_option
def pause(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Begin no more runs of a type, on any node. What runs goes on."""
    _pause(keys, address, True, "paused", as_json)


@background.command()
@keys_argument("TYPE")
@address_option
@json_option
def resume(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Run a paused type again."""
    _pause(keys, address, False, "resumed", as_json)


def _pause(keys: tuple[str, ...], address: str | None, paused: bool, done: str, as_json: bool) -> None:
    async def work(client: Client, type: str) -> None:
        await background_jobs.pause(client, type, paused)

    try_each(address, keys, work, done, as_json=as_json)
