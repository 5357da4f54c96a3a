"""The command `undo`: take the latest operation on process instances back."""

from __future__ import annotations

import click

from vivero.cli.processes.previews import preview_each, same_body
from vivero.cli.shared.each import keys_argument, named, try_each
from vivero.cli.shared.options import confirm, dry_run_option, json_option, say, yes_option
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document, path_part
from vivero.terminal.texts import echo


@click.command()
@keys_argument()
@click.option("--show", is_flag=True, help="Only show whether it is offered, and why not.")
@dry_run_option()
@yes_option
@address_option
@json_option
def undo(keys: tuple[str, ...], show: bool, dry_run: bool, yes: bool, address: str | None, as_json: bool) -> None:
    """Take the latest operation on process instances back, while nothing else has happened.

    Operations are modifications, migrations, suspensions, resumptions and late assignments of business ids. A
    cancellation cannot be taken back.

    \b
    Examples:
      vivero undo 2251799813685251 --show
      vivero undo 2251799813685251 --dry-run
      vivero undo 2251799813685251
    """
    if show:
        talk(address, lambda client: _show(client, keys, as_json))
        return
    if dry_run:
        preview_each(address, keys, "undo", same_body({}), as_json=as_json)
        return
    confirm(f"undo the latest operation on {', '.join(keys)}?", yes=yes)

    async def work(client: Client, key: str) -> None:
        await client.request("POST", _path(key))

    try_each(address, keys, work, "undone", as_json=as_json)


async def _show(client: Client, keys: tuple[str, ...], as_json: bool) -> None:
    for key in named(keys):
        offer = (await client.request("GET", _path(key))).document
        say({"key": key, **offer}) if as_json else echo(_line(key, offer))


def _path(key: str) -> str:
    return f"/v2/process-instances/{path_part(key)}/undo"


def _line(key: str, offer: Document) -> str:
    operation = (offer["operation"] or "nothing").lower().replace("_", " ")
    return f"{key}\t{operation}\t{'can be undone' if offer['offered'] else offer['reason']}"
