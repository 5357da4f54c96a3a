"""The items of a paged loop as they are kept: many a row, each row a JSON array of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

ITEMS_PER_ROW = 100
"""Who reads rows of a loop that is under way looks where they begin."""

_encode = msgspec.json.Encoder().encode
_pieces = msgspec.json.Decoder(list[msgspec.Raw]).decode


def rows_of_values(values: Sequence[Any]) -> list[str]:
    """Of plain values: text, whole numbers, booleans, nulls, and lists and contexts of those."""
    return [_encode(row).decode() for row in _cut(values)]


def rows_of_texts(texts: Sequence[str]) -> list[str]:
    """Of the items' JSON texts."""
    return [f"[{','.join(row)}]" for row in _cut(texts)]


def _cut(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + ITEMS_PER_ROW] for first in range(0, len(items), ITEMS_PER_ROW))


def first_of(number: int) -> int:
    """The index of the first item of a row."""
    return number * ITEMS_PER_ROW


def place_of(index: int) -> tuple[int, int]:
    """The number of the row that an item is in, and its place there."""
    return divmod(index, ITEMS_PER_ROW)


def texts_of(row: str) -> list[str]:
    """The items of a row, each as JSON text."""
    return [bytes(piece).decode() for piece in _pieces(row)]
