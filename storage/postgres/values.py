"""Python values to PostgreSQL parameters, and result columns to Python values.

The adaptation of values costs CPU. Large values (JSON documents as str or bytes) therefore go through untouched, and
results come in binary format, which psycopg's compiled loaders decode.
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
"""Values and their formats; None instead of formats if all values are text."""


class Texts(tuple[bytes | None, ...]):
    """An array of texts that are already encoded, without NUL. It goes through untouched."""


def encode(params: Params) -> Encoded:
    """The parameters in libpq's formats.

    - str, int, float, bool, Decimal, UUID, datetime (with a zone) and None: text format; the statement decides the
      type;
    - bytes: binary format, which `bytea`, `json` and `text` (not `jsonb`) take as it is;
    - a list or tuple of int or str (None allowed): an array;
    - Texts: an array in binary format.

    Raises DataPoison for a text that PostgreSQL cannot hold (NUL, lone surrogates), TypeError for other types.
    """
    try:
        values = [_ENCODERS[type(value)](value) for value in params]
    except KeyError:
        unknown = next(type(value).__name__ for value in params if type(value) not in _ENCODERS)
        raise TypeError(f"a parameter of type {unknown} is not supported") from None
    if not _BINARY.isdisjoint(map(type, params)):
        return values, [BINARY if type(value) in _BINARY else TEXT for value in params]
    return values, None


def _encode_text(value: str) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError as error:
        raise DataPoison(f"text with a lone surrogate at character {error.start}") from error
    if b"\0" in data:  # libpq would silently cut the value off here
        raise DataPoison(f"text with a NUL at character {value.index(chr(0))}")
    return data


def _encode_time(value: datetime) -> bytes:
    if value.tzinfo is None:
        raise TypeError("a datetime parameter needs a time zone")
    return value.isoformat().encode()


def whole_numbers(values: Iterable[Any]) -> str:
    """An array of whole numbers as text. Callers encode an array once that several statements take."""
    return f"{{{repr([*values])[1:-1]}}}"


def _encode_array(values: Sequence[int | str | None]) -> bytes:
    types = set(map(type, values))
    if types == {int}:
        return whole_numbers(values).encode()
    if types == {str} and (encoded := _encode_strings(values)) is not None:
        return encoded
    return b"{%s}" % b",".join(map(_encode_element, values))


def _encode_strings(values: Sequence[Any]) -> bytes | None:
    """An array of texts, all encoded at once: NUL parts them. None: one of them cannot be sent."""
    try:
        data = "\0".join(values).encode()
    except UnicodeEncodeError:
        return None
    if data.count(b"\0") != len(values) - 1:
        return None
    return b'{"%s"}' % data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\0", b'","')


def _encode_element(value: int | str | None) -> bytes:
    if value is None:
        return b"NULL"
    if type(value) is int:
        return b"%d" % value
    if type(value) is str:
        return b'"%s"' % _encode_text(value).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    raise TypeError(f"an array of {type(value).__name__} is not supported")


def _encode_texts(values: Texts) -> bytes:
    """The format of `array_recv`: dimensions, whether there are NULLs, type; length and lower bound; elements."""
    if not values:
        return _ARRAY_HEAD.pack(0, 0, _TEXT_OID)
    missing = values.count(None)
    parts = [_ARRAY_HEAD.pack(1, missing > 0, _TEXT_OID), _DIMENSION.pack(len(values), 1)]
    if missing == len(values):
        return b"".join([*parts, _NULL_ELEMENT * missing])
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
    """jsonb in binary format: one version byte, then the text."""

    format = pq.Format.BINARY

    def load(self, data: Any) -> bytes:
        return bytes(data[1:])


class _Adapters:
    """JSON arrives as bytes: the callers know the type to decode it to. (psycopg's AdaptContext.)"""

    connection = None

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        self.adapters.register_loader("json", ByteaBinaryLoader)
        self.adapters.register_loader("jsonb", _JsonbBytes)


_ADAPTERS = _Adapters()


def transformer() -> Transformer:
    """A reader of results; each connection has its own."""
    return _Transformer(_ADAPTERS)
