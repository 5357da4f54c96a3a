"""A snapshot as JSON text. Each text that cannot be one is refused with the name of the field at fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from vivero.core.snapshots.format import FORMAT, Snapshot

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: Mapping[int, Migration] = {}
"""Format → the function that makes a document of the next format from one of this format."""


class InvalidSnapshot(Exception):
    """The document is not a snapshot that this version can use. The message names the field."""


class _Header(msgspec.Struct):
    format: int


_header = msgspec.json.Decoder(_Header)
_decoder = msgspec.json.Decoder(Snapshot)
_encoder = msgspec.json.Encoder()


def encode(snapshot: Snapshot) -> str:
    """The JSON text: fields in the order of the format, without blanks between them."""
    return _encoder.encode(snapshot).decode()


def decode(document: str | bytes) -> Snapshot:
    """The snapshot of a JSON text, migrated to the newest format.

    Raises:
        InvalidSnapshot: the text is damaged, or its format is unknown.
    """
    try:
        return _decoder.decode(_migrated(document))
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidSnapshot(f"The snapshot is damaged: {error}") from error


def _migrated(document: str | bytes) -> str | bytes:
    found = _header.decode(document).format
    if found > FORMAT:
        raise InvalidSnapshot(
            f"The snapshot has format {found}, which a newer version of Vivero wrote: this one reads formats up to "
            f"{FORMAT}"
        )
    for number in range(found, FORMAT):
        if number not in MIGRATIONS:
            raise InvalidSnapshot(f"The snapshot has format {found}, which this version of Vivero no longer reads")
        document = _encoder.encode(MIGRATIONS[number](msgspec.json.decode(document)))
    if found < 1:
        raise InvalidSnapshot(f"The snapshot has format {found}; the first format is 1")
    return document
