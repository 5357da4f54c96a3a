"""The commands `deploy`, `start`, `cancel` and `resolve`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from vivero.cli.batches import change_all, everything_options
from vivero.cli.options import JSON_OBJECT, address_option, json_option, say, talk
from vivero.client import ApiError, Client, ClientError, Document

DEFAULT_AWAIT_S = 60.0


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@address_option
@json_option
def deploy(files: tuple[Path, ...], address: str | None, as_json: bool) -> None:
    """Deploy all BPMN files and forms, or none if one has a problem.

    A process or form that did not change since its last deployment keeps its version.

    \b
    Example:
      vivero deploy claim.bpmn review-claim.form
    """
    answer = talk(address, lambda client: client.deploy(files))
    if as_json:
        say(answer)
        return
    if "deployments" not in answer:
        click.echo(f"queued as command {answer['commandPosition']}")
        return
    for item in answer["deployments"]:
        if (process := item["processDefinition"]) is not None:
            click.echo(
                f"{process['processDefinitionId']} version {process['processDefinitionVersion']}"
                f" (key {process['processDefinitionKey']}) from {process['resourceName']}"
            )
        elif (form := item["form"]) is not None:
            click.echo(
                f"form {form['formId']} version {form['version']} (key {form['formKey']}) from {form['resourceName']}"
            )
    for warning in answer.get("warnings", ()):
        click.echo(f"warning: {warning}", err=True)


@click.command()
@click.argument("process_id", metavar="ID")
@click.option("--variables", type=JSON_OBJECT, default="{}", help="A JSON object, @file, or @- for standard input.")
@click.option("--await", "awaits", is_flag=True, help="Wait for the instance's end, and print its variables.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.001),
    default=DEFAULT_AWAIT_S,
    show_default=True,
    help="Time limit of --await, in seconds.",
)
@click.option("--version", type=click.IntRange(1), help="The version of the process.  [the latest]")
@click.option("--business-id", help="Your own id for the instance.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@address_option
@json_option
def start(
    process_id: str,
    variables: dict[str, Any],
    awaits: bool,
    timeout_s: float,
    version: int | None,
    business_id: str | None,
    tags: tuple[str, ...],
    address: str | None,
    as_json: bool,
) -> None:
    """Start the process ID, and print the key of the new instance.

    With --await, print the final variables instead. If the instance does not end in time or is cancelled, the exit code
    is 1, and the message names the instance. An instance that has not ended continues.

    \b
    Examples:
      vivero start order --variables '{"total": 30}'
      vivero start order --variables @order.json --await | jq .paid
    """

    async def begin(client: Client) -> Document:
        await_s = timeout_s if awaits else None
        try:
            return await client.create(
                process_id, variables, version=version, business_id=business_id, tags=tags, await_s=await_s
            )
        except ApiError as error:
            raise without_result(error, timeout_s) from error

    answer = talk(address, begin)
    if as_json:
        say(answer)
    elif "processInstanceKey" not in answer:
        click.echo(f"queued as command {answer['commandPosition']}")
    elif awaits:
        click.echo(f"instance {answer['processInstanceKey']} completed", err=True)
        say(answer["variables"])
    else:
        click.echo(answer["processInstanceKey"])


def without_result(error: ApiError, timeout_s: float) -> ClientError:
    """The error of an awaited instance that did not complete. Other errors are returned unchanged."""
    key = error.members.get("processInstanceKey")
    match error.status if key is not None else None:
        case 504:
            return ClientError(f"instance {key} has not ended within {timeout_s:g} s; it continues")
        case 409:
            return ClientError(f"instance {key} was terminated before its end")
        case _:
            return error


def _check_target(keys: tuple[str, ...], everything: bool, only_for_all: Mapping[str, Any]) -> None:
    """Raise UsageError unless there are either keys or --all."""
    if everything == bool(keys):
        raise click.UsageError("name keys, or use --all with options that say what to change")
    for option, value in only_for_all.items():
        if value and not everything:
            raise click.UsageError(f"{option} needs --all")


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY...]")
@everything_options
@click.option("--process", metavar="ID", help="With --all: only instances of this process.")
@click.option("--version", type=click.IntRange(1), help="With --all: only instances of this version.")
@click.option("--business-id", metavar="ID", help="With --all: only instances with this business id.")
@click.option("--tag", "tags", multiple=True, help="With --all: only instances with this tag; may be repeated.")
@click.option("--incident", "with_incident", is_flag=True, help="With --all: only instances with incidents.")
@address_option
def cancel(
    keys: tuple[str, ...],
    everything: bool,
    process: str | None,
    version: int | None,
    business_id: str | None,
    tags: tuple[str, ...],
    with_incident: bool,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    address: str | None,
) -> None:
    """Cancel process instances and everything in them.

    With --all the server cancels everything that matches, as a batch operation. A progress bar shows it; without a
    terminal, only the counts at the end. The exit code is 1 unless all items succeed or are gone already.

    \b
    Examples:
      vivero cancel 2251799813685251 2251799813685263
      vivero cancel --all --process order --version 3
      vivero cancel --all --filter '{"startDate": {"$lt": "2026-01-01T00:00:00Z"}}' --detach
    """
    fields = {"--process": process, "--version": version, "--business-id": business_id, "--tag": tags}
    _check_target(keys, everything, fields | {"--incident": with_incident, "--filter": filter, "--detach": detach})
    if everything:
        chosen = {
            "processDefinitionId": process,
            "processDefinitionVersion": version,
            "businessId": business_id,
            "tags": list(tags),
            "hasIncident": True if with_incident else None,
        } | (filter or {})
        path = "process-instances/cancellation"
        change_all(address, path, "process-instances", chosen, detach=detach, yes=yes, what="cancel")
        return

    async def each(client: Client) -> None:
        for key in keys:
            await client.cancel(key)
            click.echo(f"cancelled {key}")

    talk(address, each)


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY...]")
@click.option(
    "--retries", type=click.IntRange(1), default=1, show_default=True, help="New retries of a job that has none."
)
@click.option("--variables", type=JSON_OBJECT, help="Variables to set first, in the scope of the incident.")
@everything_options
@click.option("--process", metavar="ID", help="With --all: only incidents of this process.")
@click.option("--element", metavar="ID", help="With --all: only incidents of this element.")
@click.option("--type", "type_", metavar="TYPE", help="With --all: only incidents of this type: JOB_NO_RETRIES, …")
@click.option("--error", metavar="PATTERN", help="With --all: only messages like this; * stands for any text.")
@address_option
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
    address: str | None,
) -> None:
    """Resolve incidents: the server retries exactly the failed step.

    A job without retries first gets new ones. Correct wrong data with --variables. With --all the server resolves
    everything that matches, as a batch operation, and each job without retries gets one.

    \b
    Examples:
      vivero resolve 2251799813685312 --variables '{"card": "4711"}'
      vivero resolve --all --process order --error '*no paper*'
    """
    fields = {"--process": process, "--element": element, "--type": type_, "--error": error}
    _check_target(keys, everything, fields | {"--filter": filter, "--detach": detach})
    if everything and (variables or retries != 1):
        raise click.UsageError("--variables and --retries need keys: with --all each job gets one retry")
    if everything:
        chosen = {
            "processDefinitionId": process,
            "elementId": element,
            "errorType": None if type_ is None else type_.upper(),
            "errorMessage": None if error is None else {"$like": error},
        } | (filter or {})
        change_all(address, "incidents/resolution", "incidents", chosen, detach=detach, yes=yes, what="resolve")
        return

    async def each(client: Client) -> None:
        for key in keys:
            await client.repair(key, variables, retries)
            click.echo(f"resolved {key}")

    talk(address, each)
