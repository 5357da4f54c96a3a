"""Commands that take several keys: each key is tried, each outcome is shown, and the exit code tells of failures."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click
import trio

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import Key, say
from vivero.cli.shared.server_options import talk
from vivero.cli.shared.streams import read_input_text
from vivero.client.rest import ApiError, Client, ClientError, Document, Unreachable
from vivero.terminal.texts import echo

F = TypeVar("F", bound=Callable[..., Any])
Work = Callable[[Client, str], Awaitable[Any]]
Explain = Callable[[Client, str], Awaitable[str | None]]
STDIN = "-"
IN_ORDER = 20
"""Up to so many keys are tried one after the other, in their order."""
AT_ONCE = 16
"""If there are more, so many keys are tried at once."""
NAMED = 3
"""Keys of a kind that a message names, so that they fit a line."""


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
            yield from read_input_text().split()
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
        echo("no keys on standard input: nothing to do", err=True)
    attempt = Attempt(work, done, as_json, explain, deque(chosen))
    talk(address, lambda client: try_all(client, attempt), lambda: interrupted(attempt, len(chosen)))
    if attempt.failed == 1 and len(chosen) == 1:
        raise click.exceptions.Exit(1)
    if attempt.failed:
        raise Failure(f"{attempt.failed:,} of {len(chosen):,} failed")


@dataclass(slots=True)
class Attempt:
    """The work for keys: those that are left, those that are asked for, and how many have failed."""

    work: Work
    done: str
    as_json: bool
    explain: Explain | None
    left: deque[str]
    asked: list[str] = field(default_factory=list)
    in_doubt: list[str] = field(default_factory=list)
    failed: int = 0
    lost: Unreachable | None = None
    """The reason why the server could not be reached."""


async def try_all(client: Client, attempt: Attempt) -> None:
    """Do the work for all keys. Raises Unreachable, with the keys that are left."""
    at_once = AT_ONCE if len(attempt.left) > IN_ORDER else 1
    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(_one_by_one, client, attempt)
    if attempt.lost is not None:
        raise _unreachable(attempt.lost, attempt)


async def _one_by_one(client: Client, attempt: Attempt) -> None:
    """Take key after key until none is left or the server is gone."""
    while attempt.left and attempt.lost is None:
        key = attempt.left.popleft()
        attempt.asked.append(key)
        try:
            await attempt.work(client, key)
        except ApiError as error:
            attempt.failed += 1
            _say_failure(key, error, await _reason(client, key, error, attempt.explain), attempt.as_json)
        except Unreachable as error:
            attempt.lost = error
            (attempt.in_doubt if error.in_doubt else attempt.left).insert(0, key)
        else:
            _say_done(key, attempt.done, attempt.as_json)
        attempt.asked.remove(key)


async def _reason(client: Client, key: str, error: ApiError, explain: Explain | None) -> str:
    if explain is None or error.status not in (404, 409):
        return str(error)
    try:
        return await explain(client, key) or str(error)
    except ClientError:
        return str(error)


def _say_done(key: str, done: str, as_json: bool) -> None:
    if as_json:
        say({"key": key, "outcome": done})
    else:
        echo(f"{done} {key}")


def _say_failure(key: str, error: ApiError, reason: str, as_json: bool) -> None:
    if as_json:
        say({"key": key, "outcome": "failed", "status": error.status, "title": error.title, "reason": reason})
    about = "" if key in reason else f"{key}: "
    echo(f"Error: {about}{reason}", err=True)


def _unreachable(error: Unreachable, attempt: Attempt) -> Unreachable:
    """The error, with the keys whose outcome is unknown or that were not tried."""
    if not attempt.in_doubt and len(attempt.left) == 1:
        return error
    return Unreachable(f"{error}{_rest(attempt.in_doubt, attempt.left)}", in_doubt=error.in_doubt)


def interrupted(attempt: Attempt, total: int) -> str:
    """The text after Ctrl-C: how far the keys are."""
    tried = total - len(attempt.left) - len(attempt.asked)
    return f"{tried:,} of {total:,} were tried{_rest(attempt.asked, attempt.left)}"


def _rest(unknown: Sequence[str], untried: Sequence[str]) -> str:
    said = (f"\n{what}: {_some(keys)}" for what, keys in (("Unknown", unknown), ("Not tried", untried)) if keys)
    return "".join(said)


def _some(keys: Sequence[str]) -> str:
    """The first keys of many, and how many more there are."""
    more = f" and {len(keys) - NAMED:,} more" if len(keys) > NAMED else ""
    return ", ".join(list(keys)[:NAMED]) + more


def ended(what: str, document: Document) -> str | None:
    """A sentence about something that has ended: when, and how. None if it has not."""
    if (at := document.get("endDate") or document.get("completionDate")) is None:
        return None
    return f"{what} ended already: {document['state']} at {at}"
