"""Prints items of the server: tables on a terminal, plain rows into a pipe, JSON Lines with --json, or keys alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.table import Table
from rich.text import Text

from vivero.cli.shared.options import say
from vivero.cli.shared.streams import check_output
from vivero.client.rest import Document
from vivero.terminal.terminal_tables import Column, console, fitted, plain_header, plain_row
from vivero.terminal.texts import echo


class Format(Enum):
    """The form in which items are printed."""

    TABLE = "table"
    """A table on a terminal, else plain rows."""
    JSON = "json"
    KEYS = "keys"


@dataclass(slots=True)
class Rows:
    """Prints the items of one list, page by page. `key` is the field that --keys prints."""

    columns: Sequence[Column]
    format: Format = Format.TABLE
    key: str = ""
    _headed: bool = False

    def show(self, items: Sequence[Document]) -> tuple[str, ...]:
        """Print items. Returns the names of columns that the terminal has no room for."""
        check_output()
        if self.format is Format.TABLE and sys.stdout.isatty():
            return self._table(items)
        for item in items:
            match self.format:
                case Format.JSON:
                    say(item)
                case Format.KEYS:
                    echo(item[self.key])
                case Format.TABLE:
                    self._plain(item)
        return ()

    def _table(self, items: Sequence[Document]) -> tuple[str, ...]:
        if not items:
            return ()
        screen = console()
        found = fitted(items, self.columns, screen.width)
        screen.print(found.shown)
        return found.left_out

    def _plain(self, item: Document) -> None:
        if not self._headed:
            echo(plain_header(self.columns))
        self._headed = True
        echo(plain_row(item, self.columns))


def print_rows(items: Sequence[Document], columns: Sequence[Column], as_json: bool = False) -> None:
    """Print a list that is complete, and on a terminal which columns it has no room for."""
    say_left_out(Rows(columns, Format.JSON if as_json else Format.TABLE).show(items))


def print_fields(document: Document) -> None:
    """Print the fields of one thing, a line for each that has a value."""
    width = max(map(len, document), default=0)
    for name, value in document.items():
        if value not in (None, "", [], {}):
            text = value if isinstance(value, str | int) else json.dumps(value, ensure_ascii=False)
            echo(f"{name:{width}}  {text}")


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and texts (rich's markup): in two columns on a terminal, else with a tab in between."""
    if not sys.stdout.isatty():
        for name, text in pairs:
            echo(f"{name}\t{Text.from_markup(text).plain}")
        return
    shown = Table.grid(padding=(0, 2))
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column(overflow="fold")
    for name, text in pairs:
        shown.add_row(name, text)
    console().print(shown)


def say_left_out(names: Sequence[str]) -> None:
    """Say on stderr which columns were left out."""
    if names:
        echo(f"{left_out(names)}", err=True)


def left_out(names: Sequence[str]) -> str:
    """The text about columns that were left out."""
    return f"no room for {', '.join(names)}: use a wider terminal, or --json"
