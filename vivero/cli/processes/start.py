"""The command `start`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
import trio

from vivero.cli.shared.options import VARIABLES, Seconds, json_option, say_encoded
from vivero.cli.shared.process_ids import complete_process_id, unknown_process
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import ApiError, Client, ClientError, Document
from vivero.terminal.texts import echo

DEFAULT_AWAIT_S = 60.0
FIRST_POLL_S, LAST_POLL_S = 0.02, 0.5


@click.command()
@click.argument("process_id", metavar="ID", shell_complete=complete_process_id)
@VARIABLES
@click.option("--await", "awaits", is_flag=True, help="Wait for the instance's end, and print its variables.")
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(0.001),
    metavar="SECONDS",
    default=DEFAULT_AWAIT_S,
    show_default=True,
    help="Time limit of --await, in seconds.",
)
@click.option("--version", type=click.IntRange(1), metavar="N", help="The version of the process.  [the latest]")
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

    With --await, wait for the end of the instance and print its variables; the key goes to standard error first. If the
    instance does not end in time or is cancelled, the exit code is 1. Ctrl-C ends the waiting only: the instance
    continues.

    \b
    Examples:
      vivero start order --variables '{"total": 30}'
      vivero start order --variables @order.json --await > result.json
    """
    begun: list[str] = []
    results: list[str] = []

    async def begin(client: Client) -> Document:
        created = await _create(client, process_id, variables, version, business_id, tags)
        if not awaits or "processInstanceKey" not in created:
            return created
        begun.append(created["processInstanceKey"])
        echo(f"instance {begun[0]} started", err=True)
        results.append(await result_of(client, begun[0], timeout_s))
        return created

    answer = talk(address, begin, lambda: f"instance {begun[0]}: {continues(begun[0])}" if begun else "")
    if as_json:
        say_encoded(_with_result(answer, results))
    elif "processInstanceKey" not in answer:
        echo(f"queued as command {answer['commandPosition']}")
    elif results:
        echo(f"instance {answer['processInstanceKey']} completed", err=True)
        say_encoded(results[0])
    else:
        echo(answer["processInstanceKey"])


async def _create(
    client: Client,
    process_id: str,
    variables: Mapping[str, Any],
    version: int | None,
    business_id: str | None,
    tags: tuple[str, ...],
) -> Document:
    try:
        return await client.create(process_id, variables, version=version, business_id=business_id, tags=tags)
    except ApiError as error:
        if error.status != 404:
            raise
        what = f"there is no process '{process_id}'" + ("" if version is None else f" with version {version}")
        raise ClientError(await unknown_process(client, process_id, what)) from error


def _with_result(answer: Document, results: list[str]) -> str:
    """The JSON text of an answer, with the variables of the instance if it has ended."""
    if not results:
        return json.dumps(answer, ensure_ascii=False)
    others = json.dumps({name: value for name, value in answer.items() if name != "variables"}, ensure_ascii=False)
    return f'{others[:-1]}, "variables": {results[0]}}}'


async def result_of(client: Client, key: str, timeout_s: float) -> str:
    """The variables of an instance at its end, as the JSON text of an object: their numbers stay as they are.

    Raises ClientError if the instance does not complete in time.
    """
    delay_s = FIRST_POLL_S
    with trio.move_on_after(timeout_s):
        while (instance := await client.instance(key))["state"] in ("ACTIVE", "SUSPENDED"):
            await trio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_POLL_S)
        if instance["state"] != "COMPLETED":
            raise ClientError(f"instance {key} was terminated before its end")
        found = client.search_all("variables", {"scopeKey": key}, sort="name", whole_values=True)
        members = [f"{json.dumps(item['name'], ensure_ascii=False)}: {item['value']}" async for item in found]
        return f"{{{', '.join(members)}}}"
    raise ClientError(f"instance {key} has not ended within {timeout_s:g} s; {continues(key)}")


def continues(key: str) -> str:
    """The text about an instance that nobody waits for any more."""
    return f"it continues: `vivero show {key}` shows it"
