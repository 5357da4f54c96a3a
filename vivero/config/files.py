"""Reads the files that people name. One line says what is wrong with a file."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import BinaryIO

MAX_BYTES = 256 * 1024 * 1024
"""The bytes of one file. A device such as /dev/zero never ends."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: it begins with the mark of that
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
"""Byte order marks, and the encodings that read and skip them."""


class Unreadable(Exception):
    """A file cannot be read, or is not text. The message names it."""


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises Unreadable."""
    try:
        with path.open("rb") as file:
            return read_whole(file, f"'{path}'")
    except FileNotFoundError as error:
        raise Unreadable(f"there is no file '{path}'") from error
    except (OSError, ValueError) as error:  # ValueError: the name has a NUL
        raise Unreadable(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from error


def read_whole(file: BinaryIO, name: str, max_bytes: int = MAX_BYTES) -> bytes:
    """All bytes of an open file. Raises Unreadable if there are too many, and OSError."""
    data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise Unreadable(f"{name} is longer than {max_bytes:,} bytes, which is the limit")
    return data


def read_text(path: Path) -> str:
    """The text of a file (`text_of`). Raises Unreadable."""
    return text_of(read_bytes(path), f"'{path}'")


def text_of(data: bytes, name: str) -> str:
    """The text of UTF-8, or of the encoding that the byte order mark tells. The mark is skipped. Raises Unreadable."""
    encoding = next((encoding for mark, encoding in MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        said = encoding.removesuffix("-sig").upper()
        raise Unreadable(f"{name} is not {said} text: byte {error.start} is wrong ({error.reason})") from error
