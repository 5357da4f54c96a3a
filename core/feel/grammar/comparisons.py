"""`between`, `instance of` and the names of types."""

from __future__ import annotations

import re

from vivero.core.feel.grammar import ast
from vivero.core.feel.grammar.lexer import NAME, QUOTED_NAME
from vivero.core.feel.grammar.reader import Reader

_TYPE_WITH_WORDS = re.compile(
    r"date\s+and\s+time\b|date\s+time\b|years\s+and\s+months\s+duration\b|days\s+and\s+time\s+duration\b"
    r"|year-month-duration\b|day-time-duration\b"
)


def between(reader: Reader, value: ast.Node) -> ast.Node:
    low = reader.sum()
    reader.expect_word("and")
    return ast.Between(value, low, reader.sum())


def instance_of(reader: Reader, value: ast.Node) -> ast.Node:
    reader.expect_word("of")
    return ast.InstanceOf(value, type_name(reader))


def type_name(reader: Reader) -> ast.TypeName:
    reader.descend()
    if reader.kind not in (NAME, QUOTED_NAME):
        raise reader.error("a type's name")
    match = _TYPE_WITH_WORDS.match(reader.text, reader.start)
    if match:
        name = " ".join(match.group().split())
        reader.seek(match.end())
    else:
        name = reader.value
        reader.advance()
        while reader.take_sign("."):
            name += "." + reader.key_of_path()
    node = _type_arguments(reader, name) if reader.is_sign("<") else ast.TypeName(name)
    reader.depth -= 1
    return node


def _type_arguments(reader: Reader, name: str) -> ast.TypeName:
    keys: list[str] = []
    arguments: list[ast.TypeName] = []
    reader.advance()
    while not reader.take_sign(">"):
        if arguments:
            reader.expect_sign(",")
        if name == "context":
            keys.append(reader.key_of_path())
            reader.expect_sign(":")
        arguments.append(type_name(reader))
    result = type_name(reader) if reader.take_sign("->") else None
    return ast.TypeName(name, tuple(arguments), tuple(keys), result)
