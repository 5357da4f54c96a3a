"""Calls, with arguments by position or by name, and function literals."""

from __future__ import annotations

import re

from vivero.core.feel.grammar import ast, comparisons
from vivero.core.feel.grammar.lexer import GAP_PATTERN, NAME, QUOTED_NAME
from vivero.core.feel.grammar.reader import WORDS, Reader

_ARGUMENT_NAME = re.compile(rf"(?:({WORDS})|`([^`]++)`){GAP_PATTERN}:")


def call(reader: Reader, base: ast.Node | None, name: str) -> ast.Node:
    reader.expect_sign("(")
    if reader.take_sign(")"):
        return ast.Call(base, name, (), None)
    if reader.kind in (NAME, QUOTED_NAME) and _argument_name(reader) is not None:
        return _call_with_names(reader, base, name)
    arguments = [reader.expression()]
    while reader.take_sign(","):
        arguments.append(reader.expression())
    reader.expect_sign(")")
    return ast.Call(base, name, tuple(arguments), None)


def _argument_name(reader: Reader) -> re.Match[str] | None:
    return _ARGUMENT_NAME.match(reader.text, reader.start - (reader.kind == QUOTED_NAME))


def _call_with_names(reader: Reader, base: ast.Node | None, function: str) -> ast.Node:
    names, arguments = [], []
    while True:
        match = _argument_name(reader)
        if match is None:
            raise reader.error("the name of an argument and ':'")
        reader.seek(match.end())
        names.append(" ".join(match[1].split()) if match[1] else match[2])
        arguments.append(reader.expression())
        if not reader.take_sign(","):
            break
    reader.expect_sign(")")
    return ast.Call(base, function, tuple(arguments), tuple(names))


def function(reader: Reader) -> ast.Node:
    reader.advance()
    reader.expect_sign("(")
    parameters: list[str] = []
    types: list[ast.TypeName | None] = []
    while not reader.take_sign(")"):
        if parameters:
            reader.expect_sign(",")
        name, of_type = _parameter(reader)
        parameters.append(name)
        types.append(of_type)
    if not reader.is_word("external"):
        return ast.FunctionLiteral(tuple(parameters), tuple(types), reader.expression())
    place = reader.error("an expression")
    reader.advance()
    return ast.ExternalFunction(tuple(parameters), tuple(types), reader.expression(), place.line, place.column)


def _parameter(reader: Reader) -> tuple[str, ast.TypeName | None]:
    if reader.kind not in (NAME, QUOTED_NAME):
        raise reader.error("a parameter's name")
    words = [reader.value]
    reader.advance()
    while reader.kind == NAME:
        words.append(reader.value)
        reader.advance()
    name = " ".join(words)
    of_type = comparisons.type_name(reader) if reader.take_sign(":") else None
    reader.add_name(name)
    return name, of_type
