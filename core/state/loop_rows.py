"""The items of a paged loop as they are stored: each row is a JSON array of many items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

ITEMS_PER_ROW = 100
"""The number of items per row. The rows of a running loop depend on it."""

_encode = msgspec.json.Encoder().encode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


def rows_of_values(values: Sequence[Any]) -> list[str]:
    """Rows of plain values: texts, integers, booleans, nulls, and lists and contexts of those."""
    return [_encode(row).decode() for row in _chunks(values)]


def rows_of_texts(texts: Sequence[str]) -> list[str]:
    """Rows of items that are JSON texts."""
    return [f"[{','.join(row)}]" for row in _chunks(texts)]


def _chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + ITEMS_PER_ROW] for first in range(0, len(items), ITEMS_PER_ROW))


def first_of(number: int) -> int:
    """The index of the first item of a row."""
    return number * ITEMS_PER_ROW


def place_of(index: int) -> tuple[int, int]:
    """The number of the row that has the item, and the item's place in the row."""
    return divmod(index, ITEMS_PER_ROW)


def texts_of(row: str) -> list[str]:
    """The items of a row, each as JSON text."""
    return [bytes(item).decode() for item in _split(row)]
