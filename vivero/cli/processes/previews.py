"""Dry runs on the command line: what a change of a process instance would do, as a diff, and a question before it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from vivero.cli.shared.each import named, try_each
from vivero.cli.shared.options import confirm, say
from vivero.cli.shared.server_options import talk
from vivero.client.rest import Client, Document, path_part
from vivero.terminal.texts import echo

BodyOf = Callable[[Client, str], Awaitable[Mapping[str, Any]]]
"""Gives the body of the request for a key."""
SIGNS = {"OPENS": "+", "CLOSES": "-", "STAYS": "~"}
KINDS = ("elements", "jobs", "userTasks", "timers", "subscriptions", "incidents")
VERBS = {"modification": "modify", "migration": "migrate", "suspension": "suspend", "resumption": "resume"}
"""Operation, as paths name it → the verb."""


def same_body(body: Mapping[str, Any]) -> BodyOf:
    """The same body for every key."""

    async def body_of(_client: Client, _key: str) -> Mapping[str, Any]:
        return body

    return body_of


def change_each(
    address: str | None,
    keys: Sequence[str],
    operation: str,
    body_of: BodyOf,
    done: str,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Do an operation with each key, or only show what it would do. On a terminal it asks before, unless `yes`."""
    if dry_run:
        preview_each(address, keys, operation, body_of, as_json=as_json)
        return
    confirm_change(operation, keys, yes=yes)

    async def work(client: Client, key: str) -> None:
        await client.request("POST", _path(key, operation), await body_of(client, key))

    try_each(address, keys, work, done, as_json=as_json)


def confirm_change(operation: str, keys: Sequence[str], *, yes: bool) -> None:
    """Ask the person at the terminal, if there is one, unless `yes`. Raises Abort."""
    what = f"process instance {keys[0]}" if len(keys) == 1 else f"{len(keys):,} process instances"
    confirm(f"{VERBS[operation]} {what}?", yes=yes)


def preview_each(address: str | None, keys: Sequence[str], operation: str, body_of: BodyOf, *, as_json: bool) -> None:
    """Print what an operation would do with each key. Raises Exit(1) if one would be refused."""

    async def work(client: Client) -> int:
        refused = 0
        for key in named(keys):
            path = f"{_path(key, operation)}?dryRun=true"
            report = (await client.request("POST", path, await body_of(client, key))).document
            say({"key": key, **report}) if as_json else echo("\n".join(lines_of(key, report)))
            refused += report["refusal"] is not None
        return refused

    if talk(address, work):
        raise click.exceptions.Exit(1)


def _path(key: str, operation: str) -> str:
    return f"/v2/process-instances/{path_part(key)}/{operation}"


def lines_of(key: str, report: Document) -> Iterator[str]:
    """The report as a diff: `+` opens, `-` closes, `~` gets another element, `!` is a problem."""
    refusal = report["refusal"]
    if refusal is not None:
        yield f"{key} at version {report['version']}: refused with {refusal['status']} {refusal['title']}"
        yield from (f"  ! {_of_element(one)}{one['message']}" for one in report["problems"])
        return
    effects = report["effects"]
    yield f"{key} at version {report['version']}: it would be {report['state']}"
    items = [one for one in effects["items"] if one["effect"] != "STAYS" or one["formerElementId"] is not None]
    yield from (f"  {SIGNS[one['effect']]} {_item(one)}" for one in items)
    yield from (f"  ! {_starving(one)}" for one in effects["starvingJoins"])
    yield f"  stays: {_staying(effects['counts'])}"
    if (undo := report.get("undo")) is not None:
        yield "  it can be undone" if undo["offered"] else f"  it cannot be undone: {undo['reason']}"
    if effects["itemCount"] > len(effects["items"]):
        yield f"  and more: there are {effects['itemCount']:,} effects"


def _of_element(problem: Document) -> str:
    return "" if problem["elementId"] is None else f"{problem['elementId']}: "


def _item(one: Document) -> str:
    kind = one["kind"].lower().replace("_", " ")
    former = "" if one["formerElementId"] is None else f"{one['formerElementId']} -> "
    key = "" if one["key"] is None else f" [{one['key']}]"
    return f"{kind} {former}{one['elementId']}, {one['detail']}{key}"


def _starving(one: Document) -> str:
    flows = ", ".join(one["missingFlowIds"])
    return f"{one['elementId']} in {one['scopeElementId']} would wait for ever: no token can come to {flows}"


def _staying(counts: Document) -> str:
    return ", ".join(f"{counts[kind]['stays']:,} {kind}" for kind in KINDS if counts[kind]["stays"]) or "nothing"
