"""Commands that take several keys: each key is tried, each outcome is shown, and the exit code tells of failures."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from vivero.cli.options import Failure, Key, say, talk
from vivero.client import ApiError, Client, Document, Unreachable

F = TypeVar("F", bound=Callable[..., Any])
Work = Callable[[Client, str], Awaitable[Any]]
Explain = Callable[[Client, str], Awaitable[str | None]]
STDIN = "-"


def keys_argument(name: str = "KEY", *, required: bool = True) -> Callable[[F], F]:
    """Add the argument `keys`: several keys, or `-` for those of standard input. Names other than KEY are any text."""
    metavar = f"{name}..." if required else f"[{name}...]"
    kind = _KeyOrStdin() if name == "KEY" else click.STRING
    return click.argument("keys", nargs=-1, required=required, metavar=metavar, type=kind)


class _KeyOrStdin(Key):
    """A key, or `-`."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value == STDIN else super().convert(value, param, ctx)


def named(keys: Sequence[str]) -> list[str]:
    """The keys, each once, in order. `-` stands for the words of standard input."""
    return list(dict.fromkeys(_words(keys)))


def _words(keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        if key == STDIN:
            yield from sys.stdin.read().split()
        else:
            yield key


def try_each(
    address: str | None,
    keys: Sequence[str],
    work: Work,
    done: str,
    *,
    as_json: bool = False,
    explain: Explain | None = None,
) -> None:
    """Do `work` for each key and print the outcome, such as "`done` 7". Raises Failure if one of them failed.

    `explain` may say more about a key that the server rejects, from what the server knows of it.
    """
    chosen = named(keys)
    if not chosen:
        click.echo("no keys on standard input: nothing to do", err=True)
    failed = talk(address, lambda client: _try(client, chosen, work, done, as_json, explain))
    if failed == 1 and len(chosen) == 1:
        raise click.exceptions.Exit(1)
    if failed:
        raise Failure(f"{failed} of {len(chosen)} failed")


async def _try(
    client: Client, keys: Sequence[str], work: Work, done: str, as_json: bool, explain: Explain | None
) -> int:
    """The number of keys that failed."""
    failed = 0
    for number, key in enumerate(keys):
        try:
            await work(client, key)
        except ApiError as error:
            failed += 1
            _say_failure(key, error, await _reason(client, key, error, explain), as_json)
        except Unreachable as error:
            raise _unreachable(error, keys[number:]) from error
        else:
            _say_done(key, done, as_json)
    return failed


async def _reason(client: Client, key: str, error: ApiError, explain: Explain | None) -> str:
    if explain is None or error.status not in (404, 409):
        return str(error)
    try:
        return await explain(client, key) or str(error)
    except ApiError:
        return str(error)


def _say_done(key: str, done: str, as_json: bool) -> None:
    if as_json:
        say({"key": key, "outcome": done})
    else:
        click.echo(f"{done} {key}")


def _say_failure(key: str, error: ApiError, reason: str, as_json: bool) -> None:
    if as_json:
        say({"key": key, "outcome": "failed", "status": error.status, "title": error.title, "reason": reason})
    about = "" if key in reason else f"{key}: "
    click.echo(f"Error: {about}{reason}", err=True)


def _unreachable(error: Unreachable, rest: Sequence[str]) -> Unreachable:
    """The error, with the keys whose outcome is unknown or that were not tried."""
    if len(rest) == 1 and not error.in_doubt:
        return error
    unknown = f" Unknown: {rest[0]}." if error.in_doubt else ""
    untried = rest[1:] if error.in_doubt else rest
    return Unreachable(
        f"{error}{unknown}" + (f" Not tried: {', '.join(untried)}" if untried else ""), in_doubt=error.in_doubt
    )


def ended(what: str, document: Document) -> str | None:
    """A sentence about something that has ended: when, and how. None if it has not."""
    if (at := document.get("endDate") or document.get("completionDate")) is None:
        return None
    return f"{what} ended already: {document['state']} at {at}"
