"""The ids of deployed processes: for shells that complete them, and for "did you mean"."""

from __future__ import annotations

import click
import trio

from vivero.cli.shared.groups import suggestion
from vivero.client.rest import Client, ClientError, address_from

MAX_IDS = 1000
COMPLETION_LIMIT_S = 2.0


def complete_process_id(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The process ids that begin like this, for a shell. Without a server there are none."""
    address = context.params.get("address")

    async def read() -> list[str]:
        with trio.move_on_after(COMPLETION_LIMIT_S):
            async with Client(address_from(address)) as client:
                return await process_ids(client)
        return []

    try:
        return [each for each in trio.run(read) if each.startswith(incomplete)]
    except ClientError:
        return []


async def process_ids(client: Client) -> list[str]:
    """The ids of deployed processes."""
    found = await client.search("process-definitions", {"isLatestVersion": True}, limit=MAX_IDS)
    return sorted({item["processDefinitionId"] for item in found.items})


async def unknown_process(client: Client, process: str, what: str) -> str:
    """The message about an unknown process: `what`, and the ids that are most like it, or what is deployed."""
    try:
        known = await process_ids(client)
    except ClientError:
        return what
    if not known:
        return f"{what}: nothing is deployed. `vivero deploy FILE` deploys a process"
    hint = suggestion(process, known) or "`vivero definitions --latest` lists the processes"
    return f"{what}. {hint}"
