"""Samples of all commands and events, for the test that later versions read what this one writes.

    python -m tests.core.records.samples tests/core/records/released/0.1.jsonl

Run it once when a release is made, with a new name, and commit the file. Each line is a row of a log: intent or name of
the event, format, and text. There are two samples of each: with all fields, and with those that have no default.
"""

from __future__ import annotations

import enum
import itertools
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from vivero.core.records.base import Command, Event
from vivero.core.records.codec import EVENT_FORMAT, EVENTS, INTENTS, encode_command, encode_events

numbers = itertools.count(101)


def value(kind: Any, whole: bool) -> Any:
    """A value of a type. Each text and number is another one, so that no two fields can be mixed up."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or kind is msgspec.Raw:
        return msgspec.Raw(b'{"n":%d}' % next(numbers))
    if origin is typing.Annotated:
        return value(arguments[0], whole)
    if origin is Literal:
        return arguments[0]
    if origin in (Union, types.UnionType):
        return value(next(one for one in arguments if one is not type(None)), whole)
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        return tuple(value(one, whole) for one in arguments)
    if origin is not None and issubclass(origin, Mapping):
        return {value(arguments[0], whole): value(arguments[1], whole)}
    if origin is not None and issubclass(origin, Sequence | set | frozenset):
        made = [value(arguments[0], whole)]
        return made if issubclass(origin, list) or not isinstance(origin, type) else _collection(origin)(made)
    return _plain(kind, whole)


def _collection(origin: type) -> type:
    return origin if origin in (tuple, set, frozenset) else tuple


def _plain(kind: Any, whole: bool) -> Any:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return sample(kind, whole)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return {name: value(hint, whole) for name, hint in hints.items() if whole or name in kind.__required_keys__}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    number = next(numbers)
    made = {bool: True, int: number, float: number + 0.5, str: f"text {number}", bytes: b"%d" % number}
    return made[kind]


def sample(kind: type[msgspec.Struct], whole: bool) -> Any:
    """An instance with all fields, or with those that need one."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [field for field in msgspec.structs.fields(kind) if whole or field.required]
    return kind(**{field.name: value(hints[field.name], whole) for field in fields})


def rows() -> Iterator[dict[str, Any]]:
    """All rows."""
    for whole in (True, False):
        for intent, command in INTENTS.items():
            made: Command = sample(command, whole)
            yield {"command": intent, "format": command.format, "text": encode_command(made).decode()}
        for kind in sorted(EVENTS, key=lambda event: event.__name__):
            event: Event = sample(kind, whole)
            yield {"event": kind.__name__, "format": EVENT_FORMAT, "text": encode_events([event]).decode()}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(f"{json.dumps(row)}\n" for row in rows()))
