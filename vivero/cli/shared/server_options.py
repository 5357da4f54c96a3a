"""Options and helpers of commands that talk with a server. Commands without them need no client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import click

from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import say
from vivero.client.rest import BadAddress, Client, ClientError, address_from, normalised
from vivero.terminal.texts import echo

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def address_option(command: F) -> F:
    """Add --address, the server's address."""
    return click.option(
        "--address",
        metavar="URL",
        callback=_address,
        help="The server.  [VIVERO_ADDRESS or http://localhost:8080]",
    )(command)


def _address(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    try:
        return None if given is None else normalised(given)
    except BadAddress as error:
        raise click.BadParameter(str(error)) from error


def talk(address: str | None, work: Callable[[Client], Awaitable[T]], goes_on: Callable[[], str] = str) -> T:
    """Run `work` with a client of the server, and return its result. Raises Failure.

    `goes_on` tells after Ctrl-C what goes on without the command.
    """

    async def session() -> T:
        async with Client(address_from(address)) as client:
            return await work(client)

    return run(session, {ClientError: Failure}, goes_on)


def post(address: str | None, path: str, body: Mapping[str, Any], key: str, as_json: bool) -> None:
    """Send a request without the members of `body` that are None, and print the member `key` of the answer."""
    chosen = {name: value for name, value in body.items() if value is not None}
    answer = talk(address, lambda client: client.request("POST", path, chosen)).document
    if as_json:
        say(answer)
    else:
        echo(answer[key] if key in answer else f"queued as command {answer['commandPosition']}")
