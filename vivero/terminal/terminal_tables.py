"""Tables of the server's answers: for a terminal of any width, and as plain rows for programs.

On a terminal no key wraps. If a table is too wide, the columns that matter least are left out; if the rest is still too
wide, each item is a card, with a line for each field. Programs get one header and one line for each item, with tabs
between the fields and without colours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from vivero.client.rest import Document
from vivero.terminal.texts import as_markup

WIDTH_WITHOUT_TERMINAL = 200
"""Columns of output that does not go to a terminal, so that programs read full lines."""
MAX_VALUE_CHARACTERS = 200
MIN_TEXT_WIDTH = 24
"""Columns of the terminal that a column of text needs, if its texts are longer. It wraps."""
GAP = 2
"""Spaces between columns."""

COLOURS = {
    "ACTIVE": "cyan",
    "CREATED": "cyan",
    "COMPLETED": "green",
    "TERMINATED": "yellow",
    "CANCELED": "yellow",
    "FAILED": "red",
    "ERROR_THROWN": "red",
    "REJECTED": "red",
    "RESOLVED": "green",
    "PROCESSED": "green",
}


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or wide enough for programs."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else WIDTH_WITHOUT_TERMINAL, highlight=False)


class Column(NamedTuple):
    """A column of a table: its title, and the text of an item, which may have colours (rich's markup)."""

    name: str
    show: Callable[[Document], str]
    spare: int = 0
    """0: it is never left out. Of the others, the column with the highest number is left out first."""
    wraps: bool = False
    """Whether it is a text, which may wrap."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The table of items for a width, and the names of the columns that were left out."""

    shown: RenderableType
    left_out: tuple[str, ...] = ()


def fitted(items: Sequence[Document], columns: Sequence[Column], width: int) -> Fitted:
    """A table of the items that is at most `width` wide, or cards."""
    cells = {column: [Text.from_markup(column.show(item)) for item in items] for column in columns}
    filled = [column for column in columns if not column.spare or any(cell.plain for cell in cells[column])]
    chosen = list(columns if _width(columns, cells) <= width else filled)
    left_out = []
    while _width(chosen, cells) > width:
        spare = max(chosen, key=lambda column: column.spare)
        if not spare.spare:
            return Fitted(_cards(filled, cells))
        chosen.remove(spare)
        left_out.append(spare.name)
    names = tuple(column.name for column in columns if column.name in left_out)
    return Fitted(_table(chosen, cells, width), names)


Cells = dict[Column, list[Text]]


def _natural(column: Column, cells: Cells) -> int:
    return max(len(column.name), *(line.cell_len for cell in cells[column] for line in cell.split()), 0)


def _least(column: Column, cells: Cells) -> int:
    natural = _natural(column, cells)
    return min(natural, MIN_TEXT_WIDTH) if column.wraps else natural


def _width(columns: Sequence[Column], cells: Cells) -> int:
    """The least width of a table."""
    return sum(_least(column, cells) for column in columns) + GAP * (len(columns) - 1)


def _table(columns: Sequence[Column], cells: Cells, width: int) -> Table:
    made = Table(box=None, header_style="bold", pad_edge=False)
    free = width - _width(columns, cells)
    for column in columns:
        least, natural = _least(column, cells), _natural(column, cells)
        wide = min(natural, least + free)
        free -= wide - least
        made.add_column(column.name, no_wrap=not column.wraps, overflow="fold", width=wide)
    for row in zip(*(cells[column] for column in columns), strict=True):
        made.add_row(*row)
    return made


def _cards(columns: Sequence[Column], cells: Cells) -> Group:
    """A block of lines for each item: the names of its fields, and their values. Nothing is cut."""
    title_width = max(len(column.name) for column in columns)
    cards: list[RenderableType] = []
    for row in zip(*(cells[column] for column in columns), strict=True):
        card = Table.grid(padding=(0, GAP))
        card.add_column(style="bold", no_wrap=True, width=title_width)
        card.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell.plain:
                card.add_row(column.name, cell)
        cards += [card, ""]
    return Group(*cards[:-1])


def plain_header(columns: Sequence[Column]) -> str:
    """The header of plain rows."""
    return "\t".join(column.name for column in columns)


def plain_row(item: Document, columns: Sequence[Column]) -> str:
    """An item as one line, with tabs between its fields. White space in a field becomes a space."""
    return "\t".join(" ".join(Text.from_markup(column.show(item)).plain.split()) for column in columns)


# ------------------------------------------------------------------------------------------- the texts of columns


def field(name: str) -> Callable[[Document], str]:
    """A column's text: a field, empty for null."""
    return lambda item: "" if item[name] is None else as_markup(str(item[name]))


def listed(name: str) -> Callable[[Document], str]:
    """A column's text: the items of a list."""
    return lambda item: as_markup(", ".join(map(str, item[name] or ())))


def state(item: Document) -> str:
    """The state in its colour, and a mark for an incident."""
    return coloured(item["state"]) + (" [red]incident[/]" if item.get("hasIncident") else "")


def coloured(word: str) -> str:
    """A state, in its colour."""
    return f"[{COLOURS[word]}]{word}[/]" if word in COLOURS else as_markup(word)


def time(name: str) -> Callable[[Document], str]:
    """A column's text: a time in UTC, to the second."""
    return lambda item: "" if item[name] is None else item[name][:19].replace("T", " ")


def value(text: str) -> str:
    """A variable's value (JSON text), shortened if it is long."""
    shortened = f"{text[:MAX_VALUE_CHARACTERS]}… ({len(text)} characters)"
    return as_markup(text if len(text) <= MAX_VALUE_CHARACTERS else shortened)


VARIABLES = (Column("variable", field("name")), Column("value", lambda item: value(item["value"]), wraps=True))


def variables(items: Iterable[Document], width: int) -> RenderableType:
    """A table of variables and their values."""
    return fitted(sorted(items, key=lambda item: item["name"]), VARIABLES, width).shown
