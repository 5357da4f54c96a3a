"""Python values to PostgreSQL parameters, and result columns to Python values.

Adapting each value on its own is what costs: the large ones (JSON documents as str or bytes) go through untouched,
and results come in binary format, decoded by psycopg's compiled loaders.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from struct import Struct
from types import NoneType
from typing import Any
from uuid import UUID

import psycopg
from psycopg import pq
from psycopg.abc import Transformer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.adapt import Transformer as _Transformer
from psycopg.types.string import ByteaBinaryLoader

from vivero.storage.postgres.errors import DataPoison

TEXT, BINARY = int(pq.Format.TEXT), int(pq.Format.BINARY)

Params = Sequence[Any]
Encoded = tuple[list[bytes | None], list[int] | None]
"""Values and their formats; no formats when all are text."""


class Texts(tuple[bytes | None, ...]):
    """An array of texts that are encoded already (no NUL in them): goes through untouched."""


def encode(params: Params) -> Encoded:
    """The parameters as libpq takes them.

    - str, int, float, bool, Decimal, UUID, datetime (with a zone) and None: in text format, the type is what the
      statement makes of it;
    - bytes: in binary format, which is what `bytea`, `json` and `text` (not `jsonb`) take without looking;
    - a list or tuple of int or str (None allowed): an array;
    - Texts: an array in binary format.

    Raises DataPoison for a text that PostgreSQL cannot hold (NUL, lone surrogates), TypeError for other types.
    """
    try:
        values = [_ENCODERS[type(value)](value) for value in params]
    except KeyError:
        unknown = next(type(value).__name__ for value in params if type(value) not in _ENCODERS)
        raise TypeError(f"no PostgreSQL parameter for {unknown}") from None
    if not _BINARY.isdisjoint(map(type, params)):
        return values, [BINARY if type(value) in _BINARY else TEXT for value in params]
    return values, None


def _encode_text(value: str) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError as error:
        raise DataPoison(f"text with a lone surrogate at character {error.start}") from error
    if b"\0" in data:  # libpq would end the value here without a word
        raise DataPoison(f"text with a NUL at character {value.index(chr(0))}")
    return data


def _encode_time(value: datetime) -> bytes:
    if value.tzinfo is None:
        raise TypeError("a datetime without a time zone means nothing to the database")
    return value.isoformat().encode()


def whole_numbers(values: Iterable[Any]) -> str:
    """An array of whole numbers as text: what several statements take is made so once."""
    return f"{{{repr([*values])[1:-1]}}}"


def _encode_array(values: Sequence[int | str | None]) -> bytes:
    if set(map(type, values)) == {int}:
        return whole_numbers(values).encode()
    return b"{%s}" % b",".join(map(_encode_element, values))


def _encode_element(value: int | str | None) -> bytes:
    if value is None:
        return b"NULL"
    if type(value) is int:
        return b"%d" % value
    if type(value) is str:
        return b'"%s"' % _encode_text(value).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    raise TypeError(f"no PostgreSQL array of {type(value).__name__}")


def _encode_texts(values: Texts) -> bytes:
    """What `array_recv` takes: dimensions, whether there are NULLs, the type; length and lower bound; the elements."""
    if not values:
        return _ARRAY_HEAD.pack(0, 0, _TEXT_OID)
    parts = [_ARRAY_HEAD.pack(1, None in values, _TEXT_OID), _DIMENSION.pack(len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NULL_ELEMENT)
        else:
            parts += (_LENGTH.pack(len(value)), value)
    return b"".join(parts)


_TEXT_OID = 25
_ARRAY_HEAD, _DIMENSION, _LENGTH = Struct("!iii"), Struct("!ii"), Struct("!i")
_NULL_ELEMENT = _LENGTH.pack(-1)
_BINARY = {bytes, Texts}
_ENCODERS: Mapping[type, Callable[[Any], bytes | None]] = {
    NoneType: lambda value: None,
    bytes: lambda value: value,
    str: _encode_text,
    int: lambda value: b"%d" % value,
    bool: lambda value: b"t" if value else b"f",
    float: lambda value: repr(value).encode(),
    Decimal: lambda value: str(value).encode(),
    UUID: lambda value: str(value).encode(),
    datetime: _encode_time,
    list: _encode_array,
    tuple: _encode_array,
    Texts: _encode_texts,
}


class _JsonbBytes(Loader):
    """jsonb in binary format is one byte of version, then the text."""

    format = pq.Format.BINARY

    def load(self, data: Any) -> bytes:
        return bytes(data[1:])


class _Adapters:
    """JSON comes as bytes: who needs it decoded knows the type to decode it to. (psycopg's AdaptContext.)"""

    connection = None

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        self.adapters.register_loader("json", ByteaBinaryLoader)
        self.adapters.register_loader("jsonb", _JsonbBytes)


_ADAPTERS = _Adapters()


def transformer() -> Transformer:
    """A reader of results; each connection has its own."""
    return _Transformer(_ADAPTERS)
