"""The commands `delete` and `erase`: ended process instances, by key, or all that match, or those of a person."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.batches import change_all, everything_options
from vivero.cli.changes import check_target
from vivero.cli.each import keys_argument, try_each
from vivero.cli.failures import Failure
from vivero.cli.filters import Selected, of_processes, options_of
from vivero.cli.lists import variable_filter
from vivero.cli.options import json_option, tell
from vivero.cli.server_options import address_option, talk
from vivero.client import Client

ENDED = {"state": {"$in": ["COMPLETED", "TERMINATED"]}}


@click.command()
@keys_argument(required=False)
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
    address: str | None,
    as_json: bool,
) -> None:
    """Delete ended process instances with everything that belongs to them, also the instances that they called.

    What still runs is never deleted. Each key is tried and its outcome shown; with `-` the keys come from standard
    input. With --all the server deletes everything that has ended and matches, as a batch operation.

    \b
    Examples:
      vivero delete 2251799813685251 2251799813685263
      vivero delete --all --process order --ended-before 2026-01-01T00:00:00Z
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
        )
        return

    try_each(address, keys, _delete, "deleted", as_json=as_json)


async def _delete(client: Client, key: str) -> None:
    await client.request("POST", f"/v2/process-instances/{key}/deletion", {})


@click.command()
@click.option("--business-id", metavar="ID", help="Instances with this business id.")
@click.option(
    "--variable",
    metavar="NAME=VALUE",
    help="Instances with this value of a variable, as JSON or plain text.",
)
@click.option("--yes", is_flag=True, help="Do not ask before it begins.")
@address_option
@json_option
def erase(business_id: str | None, variable: str | None, yes: bool, address: str | None, as_json: bool) -> None:
    """Erase a person's data: ended instances, and what the logs and the archive have of them.

    What still runs is kept and named: cancel or complete it, and repeat the command. The exit code is 1 then, and if
    the archive lacks files or has damaged ones.

    \b
    Examples:
      vivero erase --business-id customer-4711
      vivero erase --variable email=ann@example.org
    """
    if (business_id is None) == (variable is None):
        raise click.UsageError("give either --business-id or --variable")
    subject: dict[str, Any] = {"businessId": business_id}
    if variable is not None:
        subject = {"variable": variable_filter(variable)}
    if not yes:
        click.confirm("Erase for good?", abort=True, err=True)

    async def work(client: Client) -> tuple[int, int]:
        kept, lost, after = 0, 0, None
        while True:
            found = (await client.request("POST", "/v2/erasures", subject | ({"after": after} if after else {}))).body
            for key in found["erased"]:
                tell(as_json, f"erased {key}", processInstanceKey=key, outcome="erased")
            for key in found["erasedFromArchive"]:
                tell(as_json, f"erased {key} from the archive", processInstanceKey=key, outcome="erasedFromArchive")
            for name in found["missing"]:
                tell(as_json, f"the archive lacks {name}", file=name, outcome="missing")
            for name in found["damaged"]:
                tell(as_json, f"{name} is damaged: what it has is not erased", file=name, outcome="damaged")
            for each in found["kept"]:
                tell(as_json, f"kept {each['processInstanceKey']}: {each['reason']}", outcome="kept", **each)
            kept, lost = kept + len(found["kept"]), lost + len(found["missing"]) + len(found["damaged"])
            after = found["next"]
            if after is None:
                return kept, lost

    kept, lost = talk(address, work)
    if kept:
        raise Failure(f"{kept} instances are kept")
    if lost:
        advice = "put them back, or delete them and: vivero archive forget"
        raise Failure(f"{lost} files of the archive are missing or damaged: {advice}")
