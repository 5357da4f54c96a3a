"""The command `assign-business-id`."""

from __future__ import annotations

import click

from vivero.cli.processes.previews import preview_each, same_body
from vivero.cli.shared.options import KEY, dry_run_option, json_option, tell
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client


@click.command()
@click.argument("key", type=KEY)
@click.argument("business_id", metavar="ID")
@dry_run_option()
@address_option
@json_option
def assign_business_id(key: str, business_id: str, dry_run: bool, address: str | None, as_json: bool) -> None:
    """Give a business id to a running process instance that has none.

    Jobs, tasks and others that begin afterwards carry it. `vivero undo` takes it away while nothing else has happened.

    \b
    Examples:
      vivero assign-business-id 2251799813685251 order-7
      vivero assign-business-id 2251799813685251 order-7 --dry-run
    """
    if dry_run:
        body = same_body({"businessId": business_id})
        preview_each(address, [key], "business-id-assignment", body, as_json=as_json)
        return

    async def work(client: Client) -> None:
        answer = await client.assign_business_id(key, business_id)
        tell(as_json, f"{key}: has the business id {business_id}", key=key, position=answer.position)

    talk(address, work)
