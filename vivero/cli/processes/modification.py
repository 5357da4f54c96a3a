"""The command `modify`: activate, move and terminate elements of a process instance."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.processes.batches import change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.processes.previews import confirm_change, preview_each, same_body
from vivero.cli.shared.filters import Selected, of_processes, options_of
from vivero.cli.shared.options import JSON_OBJECT, KEY, dry_run_option, json_option, tell
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client


@click.command()
@click.argument("key", type=KEY, metavar="[KEY]", required=False)
@click.option("--activate", metavar="ID", multiple=True, help="An element that begins; may be repeated.")
@click.option("--move", metavar="FROM:TO", multiple=True, help="The id or key of a source, and the id of its target.")
@click.option("--terminate", metavar="ID", multiple=True, help="The id of an element, or the key of one instance.")
@click.option(
    "--variables",
    type=JSON_OBJECT,
    help="Variables of the process instance that are set first: a JSON object, @file, or @- for standard input.",
)
@dry_run_option()
@everything_options
@of_processes("With --all: only instances", version="of this version")
@address_option
@json_option
def modify(
    key: str | None,
    activate: tuple[str, ...],
    move: tuple[str, ...],
    terminate: tuple[str, ...],
    variables: dict[str, Any] | None,
    everything: bool,
    selected: Selected,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Activate, move and terminate elements of a process instance, all or nothing.

    An id means all active instances of the element. A move stays in the innermost scope that the source and the target
    have in common.

    With --all the server moves elements of all active instances that match, as a batch operation. Targets begin in the
    scopes of their sources.

    \b
    Examples:
      vivero modify 2251799813685251 --move pay:check
      vivero modify 2251799813685251 --activate inform --terminate remind
      vivero modify 2251799813685251 --activate inform --variables '{"n": 1}'
      vivero modify --all --process order --move pay:check
    """
    others = {"--filter": filter, "--detach": detach}
    check_target(() if key is None else (key,), everything, options_of(selected) | others)
    if not (activate or move or terminate):
        raise click.UsageError("say what to --activate, --move or --terminate")
    if key is None:
        if activate or terminate or variables:
            raise click.UsageError("--activate, --terminate and --variables need a key")
        chosen = {**selected} | (filter or {})
        _modify_all(address, move, chosen, detach=detach, yes=yes, dry_run=dry_run, as_json=as_json)
        return
    if variables and not (activate or move):
        raise click.UsageError("--variables needs --activate or --move")
    given = [{"variables": variables}] if variables else []
    instructions = {
        "activateInstructions": [{"elementId": id, "variableInstructions": given} for id in activate],
        "moveInstructions": [_move(one) | {"variableInstructions": given} for one in move],
        "terminateInstructions": [{"elementInstanceKey" if one.isdecimal() else "elementId": one} for one in terminate],
    }

    if dry_run:
        preview_each(address, (key,), "modification", same_body(instructions), as_json=as_json)
        return
    confirm_change("modification", (key,), yes=yes)

    async def work(client: Client) -> None:
        answer = await client.modify(key, instructions)
        done = [f"activated {', '.join(activate)}"] if activate else []
        done += [f"moved {', '.join(move)}"] if move else []
        done += [f"terminated {', '.join(terminate)}"] if terminate else []
        tell(as_json, f"{key}: {'; '.join(done)}", key=key, position=answer.position)

    talk(address, work)


def _modify_all(
    address: str | None,
    move: tuple[str, ...],
    filter: dict[str, Any],
    *,
    detach: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    pairs = [_split(one) for one in move]
    moves = [{"sourceElementId": source, "targetElementId": target} for source, target in pairs]
    change_all(
        address,
        "process-instances/modification",
        "process-instances",
        filter,
        detach=detach,
        yes=yes,
        what="modify",
        as_json=as_json,
        more={"moveInstructions": moves},
        dry_run=dry_run,
    )


def _move(text: str) -> dict[str, Any]:
    source, target = _split(text)
    if source.isdecimal():
        named = {"sourceType": "byKey", "sourceElementInstanceKey": source}
    else:
        named = {"sourceType": "byId", "sourceElementId": source}
    return {
        "sourceElementInstruction": named,
        "targetElementId": target,
        "ancestorScopeInstruction": {"ancestorScopeType": "inferred"},
    }


def _split(text: str) -> tuple[str, str]:
    source, colon, target = text.rpartition(":")
    if not colon or not source or not target:
        raise click.BadParameter(f"{text!r} is not of the form FROM:TO", param_hint="--move")
    return source, target
