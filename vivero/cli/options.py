"""Options and helpers that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
CONFIG = click.option(
    "--config", "file", type=PATH, metavar="FILE", envvar="VIVERO_CONFIG", help="A TOML file with settings."
)


def json_option(command: F) -> F:
    """Add --json, the output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document per line.")(command)


class JsonObject(click.ParamType[dict[str, Any]]):
    """A JSON object: a text, `@file`, or `@-` for standard input."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        try:
            found = json.loads(_text(value))
        except FileNotFoundError:
            self.fail(f"there is no file '{value[1:]}'", param, ctx)
        except OSError as error:
            self.fail(f"cannot read '{value[1:]}': {error.strerror}", param, ctx)
        except UnicodeDecodeError as error:
            self.fail(f"'{value[1:]}' is not UTF-8 text: {error}", param, ctx)
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


class Key(click.ParamType[str]):
    """A key: digits only."""

    name = "KEY"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not (value.isascii() and value.isdecimal()):
            self.fail(f"'{value}' is not a key: a key is a number, such as 2251799813685251", param, ctx)
        return value


KEY = Key()


VARIABLES = click.option(
    "--variables", type=JSON_OBJECT, default="{}", help="Variables: a JSON object, @file, or @- for standard input."
)


def backoff_option(command: F) -> F:
    """Add --backoff, the time until a failed job is available again, as the argument `backoff_s`."""
    return click.option(
        "--backoff",
        "backoff_s",
        type=click.FloatRange(0),
        metavar="SECONDS",
        default=0.0,
        show_default=True,
        help="Seconds until a failed job is available again.",
    )(command)


def say(document: Any) -> None:
    """Print one line of JSON to stdout."""
    click.echo(json.dumps(document, ensure_ascii=False))


def tell(as_json: bool, text: str, **document: Any) -> None:
    """Print an outcome: a text for people, or with --json a document, without the members that are None."""
    if as_json:
        say({name: value for name, value in document.items() if value is not None})
    else:
        click.echo(text)


__all__ = [
    "CONFIG",
    "JSON_OBJECT",
    "KEY",
    "PATH",
    "VARIABLES",
    "backoff_option",
    "json_option",
    "say",
    "tell",
]
