"""The commands `job …`: complete, fail and change jobs by hand, without a worker."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.processes.batches import change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.filters import process_option
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import JSON_OBJECT, VARIABLES, Seconds, backoff_option, forecast_option, json_option
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import Client, Document, path_part


@click.group(cls=Group)
def job() -> None:
    """Complete, fail and change jobs by hand, without a worker. `vivero jobs` lists them.

    \b
    Examples:
      vivero job complete 2251799813685266 --variables '{"inStock": true}'
      vivero job complete 2251799813685267 --result '{"denied": true}'
      vivero job fail 2251799813685266 --message 'no paper' --retries 2
      vivero job error 2251799813685266 --code out-of-stock
      vivero job update 2251799813685266 --retries 3
    """


def _change(
    address: str | None,
    keys: tuple[str, ...],
    as_json: bool,
    done: str,
    path: str,
    body: Document,
    method: str = "POST",
) -> None:
    async def work(client: Client, key: str) -> None:
        await client.request(method, f"/v2/jobs/{path_part(key)}{path}", body)

    try_each(address, keys, work, done, as_json=as_json, explain=_how_it_ended)


async def _how_it_ended(client: Client, key: str) -> str | None:
    for found in (await client.search("jobs", {"jobKey": key})).items:
        if found["endTime"] is not None:
            return f"job {key} ended already: {found['state']} at {found['endTime']}"
    return None


@job.command()
@keys_argument()
@VARIABLES
@click.option(
    "--result", type=JSON_OBJECT, help="What the job of a task listener or an ad-hoc sub-process decides: see above."
)
@address_option
@json_option
def complete(
    keys: tuple[str, ...],
    variables: dict[str, Any],
    result: dict[str, Any] | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Complete jobs, with variables for the process.

    The job of a task listener may deny or correct the change of its user task with --result. That of an ad-hoc
    sub-process may say which elements come next, or that nothing more comes. A result of an ad-hoc sub-process has the
    type adHocSubProcess.

    \b
    Examples:
      vivero job complete 2251799813685266 --variables '{"inStock": true}'
      vivero job complete 2251799813685267 --result '{"denied": true}'
      vivero job complete 2251799813685267 --result \\
        '{"corrections": {"assignee": "ada"}}'
      vivero job complete 2251799813685268 --result \\
        '{"type": "adHocSubProcess", "activateElements": [{"elementId": "ask"}]}'
    """
    body = {"variables": variables} if result is None else {"variables": variables, "result": result}
    _change(address, keys, as_json, "completed", "/completion", body)


@job.command()
@keys_argument()
@click.option("--message", default="", metavar="TEXT", help="Why it failed.")
@click.option(
    "--retries",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default=True,
    help="Retries that remain; without any the job gets an incident.",
)
@backoff_option
@VARIABLES
@address_option
@json_option
def fail(
    keys: tuple[str, ...],
    message: str,
    retries: int,
    backoff_s: float,
    variables: dict[str, Any],
    address: str | None,
    as_json: bool,
) -> None:
    """Fail jobs.

    \b
    Example:
      vivero job fail 2251799813685266 --message 'no paper' --retries 2
    """
    body = {
        "errorMessage": message,
        "retries": retries,
        "retryBackOff": round(backoff_s * 1000),
        "variables": variables,
    }
    _change(address, keys, as_json, "failed", "/failure", body)


@job.command()
@keys_argument()
@click.option("--code", required=True, metavar="CODE", help="The code of the BPMN error.")
@click.option("--message", metavar="TEXT", help="The error's message.")
@VARIABLES
@address_option
@json_option
def error(
    keys: tuple[str, ...],
    code: str,
    message: str | None,
    variables: dict[str, Any],
    address: str | None,
    as_json: bool,
) -> None:
    """Throw a BPMN error from jobs. The process may catch it; otherwise it becomes an incident.

    \b
    Example:
      vivero job error 2251799813685266 --code out-of-stock
    """
    body = {"errorCode": code, "errorMessage": message, "variables": variables}
    _change(address, keys, as_json, "threw an error from", "/error", body)


@job.command()
@keys_argument(required=False)
@click.option("--retries", type=click.IntRange(1), metavar="N", help="New retries.")
@click.option("--priority", type=int, metavar="N", help="A new priority.")
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(0.001),
    metavar="S",
    help="The lease of its worker ends in S seconds.",
)
@forecast_option
@everything_options
@click.option("--type", "type_", metavar="TYPE", help="With --all: only jobs of this type.")
@process_option("With --all: only jobs of this process.")
@click.option("--error", metavar="PATTERN", help="With --all: only error messages like this; * stands for any text.")
@address_option
@json_option
def update(
    keys: tuple[str, ...],
    retries: int | None,
    priority: int | None,
    timeout_s: float | None,
    everything: bool,
    type_: str | None,
    process: str | None,
    error: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Change retries, priority or lease of jobs.

    With --all the server changes all open jobs that match, as a batch operation.

    \b
    Examples:
      vivero job update 2251799813685266 --retries 3
      vivero job update --all --type charge-card --priority 80
    """
    fields = {"--type": type_, "--process": process, "--error": error}
    check_target(keys, everything, fields | {"--filter": filter, "--detach": detach, "--dry-run": dry_run})
    changes = {
        "retries": retries,
        "priority": priority,
        "timeout": None if timeout_s is None else round(timeout_s * 1000),
    }
    chosen = {name: value for name, value in changes.items() if value is not None}
    if not chosen:
        raise click.UsageError("say what to change: --retries, --priority or --timeout")
    if everything:
        matching = {
            "type": type_,
            "processDefinitionId": process,
            "errorMessage": None if error is None else {"$like": error},
        } | (filter or {})
        change_all(
            address,
            "jobs/batch-update",
            "jobs",
            matching,
            detach=detach,
            yes=yes,
            what="update",
            as_json=as_json,
            of={"endTime": {"$exists": False}},
            more={"changeset": chosen},
            dry_run=dry_run,
        )
        return
    _change(address, keys, as_json, "updated", "", {"changeset": chosen}, "PATCH")
