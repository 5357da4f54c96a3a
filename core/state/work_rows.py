"""The stored form of work items: the latest ones are in the row of the process instance, earlier ones in rows of many.

Thousands of items may wait, each batch appends or takes a few of the latest, and only those are written.
"""

from __future__ import annotations

from typing import Any

import msgspec

ITEMS_PER_ROW = 100
"""The number of items per row. The rows of a running instance depend on it."""
MOST_LATEST = 2 * ITEMS_PER_ROW
"""Items in the row of the process instance. If there are more, all but the latest 100 to 199 go to other rows."""

Items = tuple[tuple[int, str, Any], ...]
"""Work items (element key, stage, argument), the oldest first."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Items).decode


def rows_for(items: int, rows: int) -> int:
    """The number of rows for so many items, if the first `rows` rows have not changed."""
    return rows if items - rows * ITEMS_PER_ROW <= MOST_LATEST else items // ITEMS_PER_ROW - 1


def latest(items: Items, rows: int) -> Items:
    """The items that so many rows do not have."""
    return items[rows * ITEMS_PER_ROW :] if rows else items


def row_of(items: Items, number: int) -> bytes:
    """The items of a row, as JSON."""
    return _encode(items[number * ITEMS_PER_ROW : (number + 1) * ITEMS_PER_ROW])


def items_of(row: str) -> Items:
    """The items of a stored row."""
    return _decode(row)
