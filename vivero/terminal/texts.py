"""Texts of servers, files and people, as a terminal may print them: their control characters would command it."""

from __future__ import annotations

import re
from typing import Any

import click

_COMMANDS = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
"""All control characters but tabs and ends of lines, and those that change the direction of the text around them."""


def readable(text: str) -> str:
    """The text with escapes instead of what would command the terminal, such as \\x1b."""
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def as_markup(text: str) -> str:
    """The readable text for rich, which takes none of it as markup."""
    from rich.markup import escape  # most commands print without it

    return escape(readable(text))


def echo(text: object = "", **options: Any) -> None:
    """As `click.echo`, of the readable text: the one way in which commands print lines for people."""
    click.echo(readable(str(text)), **options)
