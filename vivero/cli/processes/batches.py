"""The commands `batches …`, and what `cancel --all` and `resolve --all` share: a batch operation and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import click
import msgspec
import trio
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged, total
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import JSON_OBJECT, json_option, say, yes_option
from vivero.cli.shared.server_options import address_option, talk
from vivero.cli.shared.streams import is_a_person_there
from vivero.client.answers import may_pass
from vivero.client.rest import Client, ClientError, Document
from vivero.terminal.terminal_tables import Column, coloured, console, field, state, time
from vivero.terminal.texts import as_markup, echo

F = TypeVar("F", bound=Callable[..., Any])

OPEN = ("CREATED", "ACTIVE")
ACTIVE = {"state": "ACTIVE"}
RUNNING = {"state": {"$in": ["ACTIVE", "SUSPENDED"]}}
"""Process instances that have not ended."""
STATES = ("CREATED", "ACTIVE", "SUSPENDED", "COMPLETED", "PARTIALLY_COMPLETED", "CANCELED", "FAILED")
ITEM_STATES = ("ACTIVE", "COMPLETED", "SKIPPED", "FAILED", "CANCELED")
POLL_S = 0.25
PATIENCE_S = 30.0
"""The time for which the server may give no answer."""
KEY = click.argument("key", metavar="KEY")


def everything_options(command: F) -> F:
    """Add the options of commands that change everything that matches."""
    for option in (
        yes_option,
        click.option(
            "--detach", is_flag=True, help="Print the key of the batch operation, and do not wait for its end."
        ),
        click.option("--filter", "filter", type=JSON_OBJECT, help="Further fields of the search's filter, as JSON."),
        click.option("--all", "everything", is_flag=True, help="Change everything that matches, on the server."),
    ):
        command = option(command)
    return command


def change_all(
    address: str | None,
    path: str,
    searched: str,
    filter: Mapping[str, Any],
    *,
    detach: bool,
    yes: bool,
    what: str,
    as_json: bool = False,
    of: Mapping[str, Any] = ACTIVE,
    more: Mapping[str, Any] = {},
    dry_run: bool = False,
) -> None:
    """Create a batch operation for what a filter selects, and show its progress. Raises Failure if items failed.

    `of`: what else counts when it asks, as the server selects it by itself. `more`: what else the request says.
    `dry_run`: print the forecast of the server, and create nothing.
    """
    chosen = {name: value for name, value in filter.items() if value not in (None, [])}
    if not chosen:
        everything = msgspec.json.encode(of).decode()
        raise click.UsageError(f"name what to change by an option; everything: --filter '{everything}'")

    if dry_run:
        found = talk(address, lambda client: client.forecast(path, chosen, more))
        say(found) if as_json else echo("\n".join(forecast_lines(found)))
        return

    async def work(client: Client) -> Document:
        if not yes and is_a_person_there():
            found = await client.search(searched, {**of, **chosen}, limit=1)
            if not found.items:
                echo(f"no {searched.replace('-', ' ')} match: nothing to {what}", err=True)
                return {}
            click.confirm(f"{what} {total(found)} {searched.replace('-', ' ')}?", abort=True, err=True)
        key = await client.create_batch_operation(path, chosen, more)
        if detach:
            say({"batchOperationKey": key}) if as_json else echo(key)
            return {}
        followed.append(Followed(key))
        return await followed[0].to_its_end(client, as_json)

    followed: list[Followed] = []
    ended = talk(address, work, lambda: followed[0].goes_on() if followed else "")
    if ended and ended["state"] != "COMPLETED":
        key = ended["batchOperationKey"]
        raise Failure(f"batch operation {key} is {ended['state']}: see `vivero batches show {key}`")


FORECAST = (("wouldSkip", "would be skipped"), ("wouldFail", "would fail"), ("notTried", "could not be tried"))


def forecast_lines(found: Document) -> Iterator[str]:
    """A forecast as text: the counts, and each reason with some keys."""
    yield f"{found['total']:,} tried: {found['wouldSucceed']:,} would succeed"
    for name, verb in FORECAST:
        for reason in found[name]:
            more = ["…"] if reason["count"] > len(reason["exampleKeys"]) else []
            yield f"{reason['count']:,} {verb}: {reason['reason']} ({', '.join(reason['exampleKeys'] + more)})"
    if found["stoppedAt"] is not None:
        bound, value = found["stoppedAt"]["bound"].lower(), found["stoppedAt"]["value"]
        yield f"It stopped after {value:,g} {bound}: there may be more."


@dataclass(slots=True)
class Followed:
    """A batch operation whose progress is shown."""

    key: str
    seen: Document | None = None

    async def to_its_end(self, client: Client, as_json: bool = False) -> Document:
        """Show a progress bar until the batch operation ends or is suspended, then a line of counts."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console(stderr=True), transient=True) as progress:
            bar = progress.add_task("selecting", total=None, count="")
            found = await self._read(client, progress, bar)
            while found["state"] in OPEN:
                await trio.sleep(POLL_S)
                found = await self._read(client, progress, bar)
        if as_json:
            say(found)
        else:
            echo(summary(found))
        return found

    async def _read(self, client: Client, progress: Progress, bar: TaskID) -> Document:
        """Ask how far it is, again and again while the server restarts. Raises ClientError after PATIENCE_S seconds."""
        until = trio.current_time() + PATIENCE_S
        while True:
            try:
                self.seen = await client.batch_operation(self.key)
            except ClientError as error:
                if not may_pass(error):
                    raise
                if trio.current_time() >= until:
                    raise ClientError(f"{error}\n{self.goes_on()}") from error
                progress.update(bar, description="no answer")
                await trio.sleep(POLL_S)
            else:
                _show(progress, bar, self.seen)
                return self.seen

    def goes_on(self) -> str:
        """The text after Ctrl-C."""
        far = "" if self.seen is None else f" ({_count(self.seen)})"
        return (
            f"batch operation {self.key} goes on at the server{far}:\n"
            f"  vivero batches watch {self.key}     shows its progress\n"
            f"  vivero batches cancel {self.key}    leaves the rest alone"
        )


def _show(progress: Progress, bar: TaskID, found: Document) -> None:
    if found["state"] == "CREATED":
        progress.update(bar, description="selecting", count=_count(found))
    else:
        total = found["operationsTotalCount"]
        progress.update(
            bar, description=found["state"].lower(), total=total, completed=done(found), count=_count(found)
        )


def _count(found: Document) -> str:
    total = found["operationsTotalCount"]
    return f"{total:,} found" if found["state"] == "CREATED" else f"{done(found):,} of {total:,}"


def done(found: Document) -> int:
    """The items that have ended."""
    return sum(found[f"operations{each}Count"] for each in ("Completed", "Failed", "Skipped", "Canceled"))


def summary(found: Document) -> str:
    """The counts of a batch operation, as a line."""
    counts = [
        f"{found[f'operations{name}Count']:,} {name.lower()}"
        for name in ("Completed", "Failed", "Skipped", "Canceled")
        if found[f"operations{name}Count"]
    ]
    total = found["operationsTotalCount"]
    items = f"{total:,} {'item' if total == 1 else 'items'}" + (f": {', '.join(counts)}" if counts else "")
    return f"batch operation {found['batchOperationKey']} {found['state']}{_lasted(found)}, {items}"


def _lasted(found: Document) -> str:
    """Its duration, by the engine's clock; nothing while it runs."""
    if found["endDate"] is None:
        return ""
    took = datetime.fromisoformat(found["endDate"]) - datetime.fromisoformat(found["startDate"])
    return f" in {took.total_seconds():,.1f} s"


# -- vivero batches


@click.group(cls=Group)
def batches() -> None:
    """List batch operations, show their items, suspend, resume and cancel them.

    `vivero cancel --all` and `vivero resolve --all` create them. They run on the server, so they go on when this
    program ends.

    \b
    Examples:
      vivero batches list --state ACTIVE
      vivero batches show 7 --items FAILED
      vivero batches suspend 7
    """


_COLUMNS: tuple[Column, ...] = (
    Column("key", field("batchOperationKey")),
    Column("type", field("batchOperationType")),
    Column("state", state),
    Column("items", field("operationsTotalCount")),
    Column("completed", field("operationsCompletedCount")),
    Column("failed", field("operationsFailedCount")),
    Column("skipped", field("operationsSkippedCount"), spare=5),
    Column("by", field("actorId"), spare=3),
    Column("started", time("startDate"), spare=2),
    Column("ended", time("endDate"), spare=4),
)
_ITEM_COLUMNS: tuple[Column, ...] = (
    Column("item", field("itemKey")),
    Column("instance", field("processInstanceKey")),
    Column("state", state),
    Column("at", time("processedDate"), spare=1),
    Column("error", field("errorMessage"), wraps=True),
)


@batches.command("list")
@click.option(
    "--state",
    "state_",
    type=click.Choice(STATES, case_sensitive=False),
    metavar="STATE",
    help=f"Only those in this state: {', '.join(STATES)}.  [any]",
)
@oldest_or_newest
@paged
def list_(state_: str | None, oldest: bool, **page: Any) -> None:
    """List batch operations with their counts."""
    list_page("batch-operations", {"state": state_}, "batchOperationKey", _COLUMNS, oldest, ListView(**page))


@batches.command()
@KEY
@click.option(
    "--items", "items", type=click.Choice((*ITEM_STATES, "ANY"), case_sensitive=False), help="List items in this state."
)
@oldest_or_newest
@paged
def show(key: str, items: str | None, oldest: bool, **page: Any) -> None:
    """Show a batch operation, its errors, and its items."""
    view = ListView(**page)
    found = talk(view.address, lambda client: client.batch_operation(key))
    if items is None and view.as_json:
        say(found)
    elif items is None:
        console().print(
            f"{found['batchOperationType']} by {as_markup(str(found['actorId']))}, {coloured(found['state'])}",
            markup=True,
        )
        echo(summary(found))
        for error in found["errors"]:
            echo(error["message"])
    else:
        filter = {"batchOperationKey": key, "state": None if items == "ANY" else items}
        list_page("batch-operation-items", filter, "itemKey", _ITEM_COLUMNS, oldest, view)


@batches.command()
@KEY
@address_option
@json_option
def watch(key: str, address: str | None, as_json: bool) -> None:
    """Show the progress of a batch operation until it ends or is suspended. Ctrl-C ends the watching only."""
    followed = Followed(key)
    talk(address, lambda client: followed.to_its_end(client, as_json), followed.goes_on)


def _change(address: str | None, keys: tuple[str, ...], action: str, done: str, as_json: bool) -> None:
    async def change(client: Client, key: str) -> None:
        await client.change_batch_operation(key, action)

    try_each(address, keys, change, done, as_json=as_json)


@batches.command()
@keys_argument()
@address_option
@json_option
def suspend(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Send no more items. What was sent is finished."""
    _change(address, keys, "suspension", "suspended", as_json)


@batches.command()
@keys_argument()
@address_option
@json_option
def resume(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Continue a suspended batch operation."""
    _change(address, keys, "resumption", "resumed", as_json)


@batches.command()
@keys_argument()
@address_option
@json_option
def cancel(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Leave the rest of the items alone. What was done is not undone."""
    _change(address, keys, "cancellation", "cancelled", as_json)
