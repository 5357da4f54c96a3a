"""The commands `import …`: process instances of other engines, copied to the server."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import PATH, Seconds, confirm, json_option, say, yes_option
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import BadAddress, Client, ClientError, Credentials, address_from, normalised
from vivero.importing import camunda8 as importing
from vivero.importing.camunda8 import ImportOutcome
from vivero.importing.ledger import Ledger, LedgerProblem
from vivero.terminal.terminal_tables import console
from vivero.terminal.texts import echo

LEDGER = Path("camunda8-import.ledger")


@click.group(name="import", cls=Group)
def import_() -> None:
    """Copy definitions and running process instances of another engine.

    \b
    Example:
      vivero import camunda8 --from https://camunda.example.com
    """


def _source(_context: click.Context, _parameter: click.Parameter, given: str) -> str:
    try:
        return normalised(given)
    except BadAddress as error:
        raise click.BadParameter(str(error)) from error


@import_.command()
@click.option("--from", "source", metavar="URL", required=True, callback=_source, help="The Camunda 8: its REST API.")
@click.option("--apply", is_flag=True, help="Do it. Without this, only show what would happen.")
@click.option(
    "--workers-stopped",
    is_flag=True,
    help="With --apply: suspend nothing in the source. You have stopped its workers, and whoever sends it messages.",
)
@click.option(
    "--ledger",
    type=PATH,
    metavar="FILE",
    default=LEDGER,
    show_default=True,
    help="The file that keeps the step of each instance. It has variables of instances on their way.",
)
@click.option(
    "--settle",
    "settle_s",
    type=Seconds(),
    metavar="SECONDS",
    default=5.0,
    show_default=True,
    help="How long searches of the source may lag. 0 for another Vivero.",
)
@yes_option
@address_option
@json_option
def camunda8(
    source: str,
    apply: bool,
    workers_stopped: bool,
    ledger: Path,
    settle_s: float,
    yes: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Copy definitions and running process instances of a Camunda 8, and cancel the instances there.

    Without --apply, nothing changes on either side: each instance is listed with `comes`, or with `stays` and all
    reasons. An instance begins here before the elements that are active there, with its variables, due dates of timers,
    and assignees of user tasks. It stays if that would lose something, or do something twice.

    With --apply, each instance is suspended there, copied, and cancelled there after its copy is here: it is never
    alive on both sides. An instance that cannot be copied after all is resumed. If the command ends in between, repeat
    it: it continues where the ledger says.

    The source's credentials are in VIVERO_SOURCE_TOKEN, or VIVERO_SOURCE_USERNAME and VIVERO_SOURCE_PASSWORD. They need
    the rights to read, suspend and cancel.

    \b
    Examples:
      vivero import camunda8 --from https://camunda.example.com
      vivero import camunda8 --from https://camunda.example.com --apply
      vivero import camunda8 --from http://old:8080 --apply --workers-stopped
    """
    if workers_stopped and not apply:
        raise click.UsageError("--workers-stopped needs --apply")
    if apply:
        confirm(f"cancel instances at {source} when their copies are here?", yes=yes)
    report = _Report(as_json)

    async def work(there: Client, here: Client) -> None:
        with _progress(await importing.count(there)) as report.advance:
            if not apply:
                await importing.dry_run(there, here, report.tell, _now)
                return
            with Ledger(ledger, there.address, here.address) as written:
                suspends = not workers_stopped
                await importing.run(there, here, written, report.tell, _now, suspends=suspends, settle_s=settle_s)

    def goes_on() -> str:
        return f"repeat the command to continue: '{ledger}' knows how far it is" if apply else "repeat the command"

    _between(source, address, work, goes_on)
    report.conclude(apply=apply)


def _between(
    source: str, address: str | None, work: Callable[[Client, Client], Awaitable[None]], goes_on: Callable[[], str]
) -> None:
    async def session() -> None:
        async with Client(source, credentials=_credentials()) as there, Client(address_from(address)) as here:
            try:
                await work(there, here)
            except ClientError as error:
                raise ClientError(f"{error}\n{goes_on()}") from error

    run(session, {ClientError: Failure, LedgerProblem: Failure}, goes_on)


def _credentials() -> Credentials:
    """Those of the source. An empty text sends none."""
    if username := os.environ.get("VIVERO_SOURCE_USERNAME"):
        return username, os.environ.get("VIVERO_SOURCE_PASSWORD", "")
    return os.environ.get("VIVERO_SOURCE_TOKEN", "")


def _now() -> datetime:
    return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on standard error, unless the lines of standard output are on the same terminal.

    More than 10,000 instances have no known number.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns,
        console=console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not sys.stderr.isatty() or sys.stdout.isatty(),
    ) as progress:
        bar: TaskID = progress.add_task("instances", total=total if total < importing.MOST_COUNTED else None)
        yield lambda: progress.advance(bar)


@dataclass(slots=True)
class _Report:
    """The lines of outcomes, and their counts."""

    as_json: bool
    advance: Callable[[], None] = lambda: None
    counts: Counter[str] = field(default_factory=Counter)

    def tell(self, outcome: ImportOutcome) -> None:
        self.counts[outcome.outcome] += 1
        say(_document(outcome)) if self.as_json else echo(_line(outcome))
        self.advance()

    def conclude(self, *, apply: bool) -> None:
        total, done = self.counts.total(), "copied" if apply else "comes"
        if self.as_json:
            say({"total": total, done: self.counts[done], "stays": self.counts["stays"]})
        else:
            more = "" if apply or not self.counts[done] else ". Nothing has changed: --apply does it"
            verb = "copied" if apply else "come along"
            echo(f"{total:,} instances: {self.counts[done]:,} {verb}, {self.counts['stays']:,} stay{more}")
        if apply and self.counts["stays"]:
            raise Failure(f"{self.counts['stays']:,} of {total:,} instances stay in the source")


def _document(outcome: ImportOutcome) -> dict[str, Any]:
    named = ("processInstanceKey", "processDefinitionId", "processDefinitionVersion")
    found = {name: outcome.instance[name] for name in named if name in outcome.instance}
    return found | {
        "outcome": outcome.outcome,
        "copy": outcome.copy,
        "elements": outcome.elements,
        "reasons": outcome.reasons,
        "notes": outcome.notes,
    }


def _line(outcome: ImportOutcome) -> str:
    instance = outcome.instance
    of = (
        f" ({instance['processDefinitionId']} version {instance['processDefinitionVersion']})"
        if len(instance) > 1
        else ""
    )
    copy = "" if outcome.copy is None else f" to {outcome.copy}"
    at = f" at {', '.join(outcome.elements)}" if outcome.elements else ""
    why = "".join(f"\n  {text}" for text in (*outcome.reasons, *outcome.notes))
    return f"{outcome.outcome} {instance['processInstanceKey']}{copy}{of}{at}{why}"
