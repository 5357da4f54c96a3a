"""The command `activate`: the elements of an active ad-hoc sub-process."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import JSON_OBJECT, KEY, json_option, say, tell
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document, path_part
from vivero.config.json_input import parsed
from vivero.terminal.texts import echo

ELEMENTS_VARIABLE = "adHocSubProcessElements"


@click.command()
@click.argument("key", type=KEY, metavar="KEY")
@click.argument("elements", nargs=-1, metavar="[ELEMENT...]")
@click.option(
    "--variables",
    type=JSON_OBJECT,
    help="Variables that each of the elements gets for itself: a JSON object, @file, or @- for standard input.",
)
@click.option("--cancel-remaining", is_flag=True, help="First end everything that still runs in the sub-process.")
@address_option
@json_option
def activate(
    key: str,
    elements: tuple[str, ...],
    variables: dict[str, Any] | None,
    cancel_remaining: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Activate elements of an ad-hoc sub-process, all or none.

    KEY is the key of the element instance of the sub-process, which `vivero show` lists. Without ELEMENT the command
    lists the ids and names of the elements that can be activated. Each ELEMENT runs with the flow behind it. The
    variables stay with it: other elements do not see them.

    \b
    Examples:
      vivero activate 2251799813685270
      vivero activate 2251799813685270 call-customer write-letter
      vivero activate 2251799813685270 refund --variables '{"sum": 3}'
    """
    if not elements:
        if variables is not None or cancel_remaining:
            raise click.UsageError("--variables and --cancel-remaining need an ELEMENT")
        talk(address, lambda client: _list(client, key, as_json))
        return
    chosen = [{"elementId": element, "variables": variables or {}} for element in elements]
    body = {"elements": chosen, "cancelRemainingInstances": cancel_remaining}

    async def work(client: Client) -> None:
        path = f"/v2/element-instances/ad-hoc-activities/{path_part(key)}/activation"
        answer = await client.request("POST", path, body)
        text = f"activated {', '.join(elements)} in {key}"
        tell(as_json, text, key=key, elements=list(elements), position=answer.position)

    talk(address, work)


async def _list(client: Client, key: str, as_json: bool) -> None:
    """Print the elements that can be activated. Raises Failure if the key is not that of an ad-hoc sub-process."""
    found = await client.search("variables", {"scopeKey": key, "name": ELEMENTS_VARIABLE}, limit=1, whole_values=True)
    if not found.items:
        raise Failure(f"{key} is not the key of an ad-hoc sub-process: `vivero show INSTANCE` lists element instances")
    for element in _elements(found.items[0]["value"]):
        if as_json:
            say(element)
        else:
            echo(f"{element['elementId']}\t{element.get('elementName') or ''}".rstrip())


def _elements(value: str) -> list[Document]:
    """The elements in the variable. Raises Failure if somebody has overwritten it."""
    found = parsed(value)
    if not isinstance(found, list) or not all(isinstance(each, dict) and "elementId" in each for each in found):
        raise Failure(f"the variable '{ELEMENTS_VARIABLE}' was overwritten and has no list of elements any more")
    return found
