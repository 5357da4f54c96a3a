"""The commands `delete`, `delete-evaluations` and `erase`: by key, or all that match, or a person's data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click

from vivero.cli.looking.lists import variable_filter
from vivero.cli.processes.batches import change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.filters import Selected, of_processes, options_of
from vivero.cli.shared.options import dry_run_option, json_option, tell, yes_option
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import ApiError, Client, check_new
from vivero.terminal.texts import echo

ENDED = {"state": {"$in": ["COMPLETED", "TERMINATED"]}}
EVALUATED = {"state": {"$in": ["EVALUATED", "FAILED"]}}
"""Every decision instance."""


@click.command()
@keys_argument(required=False)
@dry_run_option("Say what would become of each, and change nothing.")
@everything_options
@of_processes("With --all: only instances", version="of this version")
@click.option("--ended-before", metavar="TIME", help="With --all: only instances that ended before.")
@address_option
@json_option
def delete(
    keys: tuple[str, ...],
    everything: bool,
    selected: Selected,
    ended_before: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Delete ended process instances with everything that belongs to them, also the instances that they called.

    What still runs is never deleted. Each key is tried and its outcome shown; with `-` the keys come from standard
    input. With --all the server deletes everything that has ended and matches, as a batch operation.

    \b
    Examples:
      vivero delete 2251799813685251 2251799813685263
      vivero delete 2251799813685251 --dry-run
      vivero delete --all --process order --ended-before 2026-01-01T00:00:00Z
      vivero delete --all --process order --dry-run
    """
    others = {"--ended-before": ended_before, "--filter": filter, "--detach": detach}
    check_target(keys, everything, options_of(selected) | others)
    if everything:
        chosen = {
            **selected,
            "endDate": {"$lt": ended_before} if ended_before else None,
        } | (filter or {})
        path = "process-instances/deletion"
        change_all(
            address,
            path,
            "process-instances",
            chosen,
            detach=detach,
            yes=yes,
            what="delete",
            as_json=as_json,
            of=ENDED,
            dry_run=dry_run,
        )
        return

    work, done = (_foresee, "would delete") if dry_run else (_delete, "deleted")
    try_each(address, keys, work, done, as_json=as_json)


async def _delete(client: Client, key: str) -> None:
    await client.request("POST", f"/v2/process-instances/{key}/deletion", {})


async def _foresee(client: Client, key: str) -> None:
    await _foresee_at(client, f"/v2/process-instances/{key}/deletion")


async def _foresee_at(client: Client, path: str) -> None:
    """Raises ApiError if the deletion would be refused."""
    answer = (await client.request("POST", f"{path}?dryRun=true", {})).document
    if (refusal := answer["refusal"]) is not None:
        raise ApiError(refusal["status"], refusal["title"], answer["problems"][0]["message"], None, {})


@click.command("delete-evaluations")
@keys_argument(required=False)
@dry_run_option("Say what would become of each, and change nothing.")
@everything_options
@click.option("--decision", metavar="ID", help="With --all: only evaluations that took this decision.")
@click.option("--failed", is_flag=True, help="With --all: only evaluations that failed.")
@click.option("--evaluated-before", metavar="TIME", help="With --all: only those of before.")
@address_option
@json_option
def delete_evaluations(
    keys: tuple[str, ...],
    everything: bool,
    decision: str | None,
    failed: bool,
    evaluated_before: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Delete evaluations of decisions, each with the decision instances of all decisions that it took.

    A key is that of an evaluation. With --all the server deletes every evaluation with a decision instance that
    matches, as a batch operation.

    \b
    Examples:
      vivero delete-evaluations 2251799813685251
      vivero delete-evaluations 2251799813685251 --dry-run
      vivero delete-evaluations --all --decision Price --failed
    """
    others = {"--decision": decision, "--failed": failed, "--evaluated-before": evaluated_before}
    check_target(keys, everything, others | {"--filter": filter, "--detach": detach})
    if not everything:
        work, done = (_foresee_evaluation, "would delete") if dry_run else (_delete_evaluation, "deleted")
        try_each(address, keys, work, done, as_json=as_json)
        return
    chosen = {
        "decisionDefinitionId": decision,
        "state": "FAILED" if failed else None,
        "evaluationDate": {"$lt": evaluated_before} if evaluated_before else None,
    } | (filter or {})
    change_all(
        address,
        "decision-instances/deletion",
        "decision-instances",
        chosen,
        detach=detach,
        yes=yes,
        what="delete the evaluations of",
        as_json=as_json,
        of=EVALUATED,
        dry_run=dry_run,
    )


async def _delete_evaluation(client: Client, key: str) -> None:
    await client.request("POST", f"/v2/decision-instances/{key}/deletion", {})


async def _foresee_evaluation(client: Client, key: str) -> None:
    await _foresee_at(client, f"/v2/decision-instances/{key}/deletion")


@click.command()
@click.option("--business-id", metavar="ID", help="Instances with this business id.")
@click.option(
    "--variable",
    metavar="NAME=VALUE",
    help="Instances with this value of a variable, as JSON or plain text.",
)
@click.option(
    "--value",
    "values",
    metavar="TEXT",
    multiple=True,
    help="Ended instances that ever had the text, and all else that has it. May be repeated.",
)
@dry_run_option("Say what would be erased, and change nothing.")
@yes_option
@address_option
@json_option
def erase(
    business_id: str | None,
    variable: str | None,
    values: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Erase a person's data: ended instances, and what the logs, the tables and the archive have of the value.

    It keeps and names instances that still run or wait: cancel or complete them, and repeat the command. The exit code
    is 1 then, and if the archive lacks files or has damaged ones.

    \b
    Examples:
      vivero erase --business-id customer-4711
      vivero erase --variable email=ann@example.org
      vivero erase --value ann@example.org --value "Ann Smith" --dry-run
    """
    if (business_id is not None) + (variable is not None) + bool(values) != 1:
        raise click.UsageError("give either --business-id or --variable, or --value")
    subject: dict[str, Any] = {"dryRun": True} if dry_run else {}
    if business_id is not None:
        subject["businessId"] = business_id
    elif variable is not None:
        subject["variable"] = variable_filter(variable)
    else:
        subject["values"] = list(values)
    if not yes and not dry_run:
        click.confirm("Erase for good?", abort=True, err=True)
    found = talk(address, partial(_erase, subject, as_json))
    verb = "would be erased" if dry_run else "erased"
    sums = {name: count for name, count in found.counts.items() if name != "inUse"}
    if any(sums.values()):
        counts = ", ".join(f"{count} {_KINDS.get(name, name)}" for name, count in sums.items() if count)
        tell(as_json, f"{verb}: {counts}", outcome="counts", **sums)
    if found.kept:
        raise Failure(f"{len(found.kept)} instances are kept")
    if found.counts["inUse"]:
        raise Failure(
            f"{found.counts['inUse']} events stay, because a message or an instance waits under a name or key with the"
            " value: repeat the command when nothing waits any more"
        )
    if found.lost:
        advice = "put them back, or delete them and: vivero archive forget"
        raise Failure(f"{found.lost} files of the archive are missing or damaged: {advice}")


_KINDS = {
    "commands": "commands",
    "events": "rows of events",
    "messages": "buffered messages",
    "pendingStarts": "messages that wait for others",
    "comments": "comments",
    "savedViews": "saved views",
    "modelDrafts": "drafts of models",
    "queuedCommands": "commands that clients have queued",
    "alertRules": "alert rules",
    "alertDeliveries": "errors of their notices",
    "idempotencyKeys": "idempotency keys",
    "batchOperations": "filters of batch operations",
    "batchOperationItems": "errors of their items",
    "jobExecutions": "failed background jobs",
    "workers": "names of workers in the statistics",
}


@dataclass(slots=True)
class _Found:
    kept: set[str] = field(default_factory=set)
    lost: int = 0
    counts: Counter[str] = field(default_factory=Counter)


async def _erase(subject: dict[str, Any], as_json: bool, client: Client) -> _Found:
    """All pages of the erasure, each told as it comes."""
    found, after, seen = _Found(), None, set[str]()
    verb = "would be erased" if subject.get("dryRun") else "erased"
    while True:
        page = (await client.request("POST", "/v2/erasures", subject | ({"after": after} if after else {}))).document
        for key in page["erased"]:
            tell(as_json, f"{verb} {key}", processInstanceKey=key, outcome="erased")
        for key in page["erasedFromArchive"]:
            tell(as_json, f"{verb} {key} from the archive", processInstanceKey=key, outcome="erasedFromArchive")
        for name in page["missing"]:
            tell(as_json, f"the archive lacks {name}", file=name, outcome="missing")
        for name in page["damaged"]:
            tell(as_json, f"{name} is damaged: what it has is not erased", file=name, outcome="damaged")
        for each in page["kept"]:
            if each["processInstanceKey"] not in found.kept:
                tell(as_json, f"kept {each['processInstanceKey']}: {each['reason']}", outcome="kept", **each)
                found.kept.add(each["processInstanceKey"])
        found.lost += len(page["missing"]) + len(page["damaged"])
        found.counts.update(page.get("counts", {}))
        if (searched := page.get("searched")) and page["next"] and not as_json:
            echo(f"searched the log to {searched.replace('/', ' of ')}", err=True)
        after = page["next"]
        if after is None:
            return found
        check_new(after, seen)
