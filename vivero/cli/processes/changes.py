"""The commands `cancel` and `resolve`: by key, or everything that matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from vivero.cli.processes.batches import RUNNING, change_all, everything_options
from vivero.cli.processes.previews import preview_each, same_body
from vivero.cli.shared.each import ended, keys_argument, try_each
from vivero.cli.shared.filters import Selected, of_processes, options_of, process_option
from vivero.cli.shared.options import JSON_OBJECT, dry_run_option, forecast_option, json_option
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import Client


def check_target(keys: tuple[str, ...], everything: bool, only_for_all: Mapping[str, Any]) -> None:
    """Raise UsageError unless there are either keys or --all, and options only where they have an effect."""
    if everything == bool(keys):
        raise click.UsageError("name keys, or use --all with options that say what to change")
    for option, value in only_for_all.items():
        if value and not everything:
            raise click.UsageError(f"{option} needs --all")


@click.command()
@keys_argument(required=False)
@dry_run_option()
@everything_options
@of_processes("With --all: only instances", version="of this version")
@click.option("--tag", "tags", multiple=True, help="With --all: only instances with this tag; may be repeated.")
@click.option("--incident", "with_incident", is_flag=True, help="With --all: only instances with incidents.")
@address_option
@json_option
def cancel(
    keys: tuple[str, ...],
    everything: bool,
    selected: Selected,
    tags: tuple[str, ...],
    with_incident: bool,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Cancel process instances and everything in them.

    Each key is tried and its outcome shown; the exit code is 1 if one of them fails. With `-` the keys come from
    standard input.

    With --all the server cancels everything that matches, as a batch operation. A progress bar shows it; without a
    terminal, only the counts at the end. The exit code is 1 unless all items succeed or are gone already.

    \b
    Examples:
      vivero cancel 2251799813685251 2251799813685263
      vivero instances --tag trial --keys | vivero cancel -
      vivero cancel 2251799813685251 --dry-run
      vivero cancel --all --process order --version 3
      vivero cancel --all --filter '{"hasIncident": true}' --detach
    """
    others = {"--tag": tags, "--incident": with_incident, "--filter": filter, "--detach": detach}
    check_target(keys, everything, options_of(selected) | others)
    if everything:
        chosen = {
            **selected,
            "tags": list(tags),
            "hasIncident": True if with_incident else None,
        } | (filter or {})
        change_all(
            address,
            "process-instances/cancellation",
            "process-instances",
            chosen,
            detach=detach,
            yes=yes,
            what="cancel",
            as_json=as_json,
            of=RUNNING,
            dry_run=dry_run,
        )
        return

    if dry_run:
        preview_each(address, keys, "cancellation", same_body({}), as_json=as_json)
        return
    try_each(address, keys, Client.cancel, "cancelled", as_json=as_json, explain=_how_it_ended)


async def _how_it_ended(client: Client, key: str) -> str | None:
    return ended(f"process instance {key}", await client.instance(key))


@click.command()
@keys_argument(required=False)
@click.option(
    "--retries",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="New retries of a job that has none.",
)
@click.option("--variables", type=JSON_OBJECT, help="Variables to set first, in the scope of the incident.")
@forecast_option
@everything_options
@process_option("With --all: only incidents of this process.")
@click.option("--element", metavar="ID", help="With --all: only incidents of this element.")
@click.option("--type", "type_", metavar="TYPE", help="With --all: only incidents of this type: JOB_NO_RETRIES, …")
@click.option("--error", metavar="PATTERN", help="With --all: only messages like this; * stands for any text.")
@address_option
@json_option
def resolve(
    keys: tuple[str, ...],
    retries: int,
    variables: dict[str, Any] | None,
    everything: bool,
    process: str | None,
    element: str | None,
    type_: str | None,
    error: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Resolve incidents: the server retries exactly the failed step.

    A job without retries first gets new ones. Correct wrong data with --variables. Each key is tried, and `-` stands
    for keys from standard input.

    With --all the server resolves everything that matches, as a batch operation, and each job without retries gets one.

    \b
    Examples:
      vivero resolve 2251799813685312 --variables '{"card": "4711"}'
      vivero incidents --type job_no_retries --keys | vivero resolve -
      vivero resolve --all --process order --error '*no paper*'
    """
    fields = {"--process": process, "--element": element, "--type": type_, "--error": error}
    check_target(keys, everything, fields | {"--filter": filter, "--detach": detach, "--dry-run": dry_run})
    if everything and (variables or retries != 1):
        raise click.UsageError("--variables and --retries need keys: with --all each job gets one retry")
    if everything:
        chosen = {
            "processDefinitionId": process,
            "elementId": element,
            "errorType": None if type_ is None else type_.upper(),
            "errorMessage": None if error is None else {"$like": error},
        } | (filter or {})
        change_all(
            address,
            "incidents/resolution",
            "incidents",
            chosen,
            detach=detach,
            yes=yes,
            what="resolve",
            as_json=as_json,
            dry_run=dry_run,
        )
        return

    async def repair(client: Client, key: str) -> None:
        await client.repair(key, variables, retries)

    try_each(address, keys, repair, "resolved", as_json=as_json, explain=_whether_it_is_resolved)


async def _whether_it_is_resolved(client: Client, key: str) -> str | None:
    incident = await client.incident(key)
    return None if incident["state"] == "ACTIVE" else f"incident {key} is not open any more: {incident['state']}"
