"""The lines of the settings in a TOML file, for messages. `tomllib` does not tell them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

_TABLE = re.compile(r"\s*\[[^\[\]]+\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w.-]|"[^"]*"|'[^']*'|\s)+?)\s*=""")
_BARE = re.compile(r"[\w-]+", re.ASCII)


def quoted(part: str) -> str:
    """A part of a name as TOML has it."""
    return part if _BARE.fullmatch(part) else f'"{part}"'


def lines_of(text: str) -> dict[str, int]:
    """The first line of each table and each setting of a valid file, by their full names.

    A line within a text of several lines may look like a setting. It can add a name, and hides none before it.
    """
    found: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if _TABLE.match(line):
            table = path = tuple(_path(line))
        elif key := _KEY.match(line):
            path = (*table, *_path(f"{key[1]} = 0"))
        else:
            continue
        found.setdefault(".".join(map(quoted, path)), number)
    return found


def _path(line: str) -> Iterator[str]:
    """The parts of the only name in a line; none if it is not TOML."""
    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return
    while isinstance(inner, dict) and inner:
        [(name, inner)] = inner.items()
        yield name
