"""Options and helpers that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vivero.cli.failures import Failure, run
from vivero.client import Client, ClientError, address_from

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

PATH = click.Path(path_type=Path)
CONFIG = click.option("--config", "file", type=PATH, envvar="VIVERO_CONFIG", help="A TOML file with settings.")


def address_option(command: F) -> F:
    """Add --address, the server's address."""
    return click.option("--address", metavar="URL", help="The server.  [VIVERO_ADDRESS or http://localhost:8080]")(
        command
    )


def json_option(command: F) -> F:
    """Add --json, the output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document per line.")(command)


def talk(address: str | None, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run `work` with a client of the server, and return its result. Raises Failure."""

    async def session() -> T:
        async with Client(address_from(address)) as client:
            return await work(client)

    return run(session, {ClientError: Failure})


class JsonObject(click.ParamType[dict[str, Any]]):
    """A JSON object: a text, `@file`, or `@-` for standard input."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        try:
            found = json.loads(_text(value))
        except (OSError, UnicodeDecodeError) as error:
            self.fail(f"cannot read {value[1:]}: {error}", param, ctx)
        except ValueError as error:
            self.fail(f"the text is not valid JSON ({error}): {_text(value)[:200]}", param, ctx)
        if not isinstance(found, dict):
            self.fail('the value must be a JSON object, such as {"total": 30}', param, ctx)
        return found


def _text(value: str) -> str:
    if value == "@-":
        return sys.stdin.read()
    return Path(value[1:]).read_text(encoding="utf-8") if value.startswith("@") else value


JSON_OBJECT = JsonObject()


def say(document: Any) -> None:
    """Print one line of JSON to stdout."""
    click.echo(json.dumps(document, ensure_ascii=False))


__all__ = ["CONFIG", "JSON_OBJECT", "PATH", "Failure", "address_option", "json_option", "say", "talk"]
