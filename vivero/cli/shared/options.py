"""Options and helpers that several commands share."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vivero.cli.shared import streams
from vivero.config.files import Unreadable, read_text
from vivero.config.json_input import parsed
from vivero.terminal.texts import echo

F = TypeVar("F", bound=Callable[..., Any])

MAX_SHOWN = 200
"""Characters of a wrong text that a message shows."""

MAX_SECONDS = 1e9
"""About thirty years."""
MAX_KEY = 2**63 - 1

PATH = click.Path(path_type=Path)
CONFIG = click.option(
    "--config", "file", type=PATH, metavar="FILE", envvar="VIVERO_CONFIG", help="A TOML file with settings."
)


def json_option(command: F) -> F:
    """Add --json, the output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document per line.")(command)


class JsonValue(click.ParamType[Any]):
    """JSON: a text, `@file`, or `@-` for standard input."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return _value(value)
        except (Unreadable, ValueError) as error:
            self.fail(str(error), param, ctx)


class JsonObject(JsonValue):
    """A JSON object: a text, `@file`, or `@-` for standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        found = super().convert(value, param, ctx)
        if not isinstance(found, dict):
            self.fail('the value must be a JSON object, such as {"total": 30}', param, ctx)
        return found


def _value(given: str) -> Any:
    """The value of the text itself, of a file, or of standard input. Raises Unreadable, ValueError, ClickException."""
    if given == "@-":
        return json_of(streams.read_input_text(), "standard input")
    if given.startswith("@"):
        return json_of(read_text(Path(given[1:])), f"'{given[1:]}'")
    return json_of(given)


def json_of(text: str, name: str = "the text") -> Any:
    """The value of a JSON text. Raises ValueError, whose line shows the text."""
    try:
        return parsed(text)
    except ValueError as error:
        shown = "".join(letter if letter.isprintable() else " " for letter in text[:MAX_SHOWN])
        raise ValueError(f"{name} is not valid JSON ({error}): {shown.strip()}") from error


JSON_OBJECT, JSON_VALUE = JsonObject(), JsonValue()


class Key(click.ParamType[str]):
    """A key: digits only."""

    name = "KEY"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not (value.isascii() and value.isdecimal()):
            self.fail(f"'{value}' is not a key: a key is a number, such as 2251799813685251", param, ctx)
        return value


KEY = Key()


class Seconds(click.FloatRange):
    """A time in seconds: a finite number from `min` on."""

    def __init__(self, min: float = 0) -> None:
        super().__init__(min, MAX_SECONDS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number", param, ctx)
        return found


VARIABLES = click.option(
    "--variables", type=JSON_OBJECT, default="{}", help="Variables: a JSON object, @file, or @- for standard input."
)


def backoff_option(command: F) -> F:
    """Add --backoff, the time until a failed job is available again, as the argument `backoff_s`."""
    return click.option(
        "--backoff",
        "backoff_s",
        type=Seconds(),
        metavar="SECONDS",
        default=0.0,
        show_default=True,
        help="Seconds until a failed job is available again.",
    )(command)


def dry_run_option(help: str = "Only show what would happen.") -> Callable[[F], F]:
    """Add --dry-run."""
    return click.option("--dry-run", is_flag=True, help=help)


def forecast_option(command: F) -> F:
    """Add --dry-run to a command that has a dry run only with --all."""
    return dry_run_option("With --all: say what would become of each, and change nothing.")(command)


def yes_option(command: F) -> F:
    """Add --yes, for `confirm`."""
    return click.option("--yes", is_flag=True, help="Do not ask before it begins.")(command)


def confirm(question: str, *, yes: bool) -> None:
    """Ask the person at the terminal, if there is one, unless `yes`. Raises Abort."""
    if not yes and streams.is_a_person_there():
        click.confirm(question, abort=True, err=True)


def say(document: Any) -> None:
    """Print one line of JSON to stdout. Where letters cannot be shown, they are escaped."""
    echo(json.dumps(document, ensure_ascii=not streams.is_unicode(sys.stdout)))


def say_encoded(text: str) -> None:
    """Like `say`, for a document that is JSON text already: its numbers stay as they are."""
    shown = text if streams.is_unicode(sys.stdout) else _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    echo(shown)


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
"""In JSON it occurs within strings alone, where escapes can take its place."""


def tell(as_json: bool, text: str, **document: Any) -> None:
    """Print an outcome: a text for people, or with --json a document, without the members that are None."""
    if as_json:
        say({name: value for name, value in document.items() if value is not None})
    else:
        echo(text)


__all__ = [
    "CONFIG",
    "JSON_OBJECT",
    "JSON_VALUE",
    "KEY",
    "PATH",
    "VARIABLES",
    "backoff_option",
    "confirm",
    "dry_run_option",
    "forecast_option",
    "json_option",
    "say",
    "say_encoded",
    "tell",
    "yes_option",
]
