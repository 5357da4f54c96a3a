"""Constants, and constructs that begin with a sign: lists, ranges, contexts, parentheses, `@`, `?`."""

from __future__ import annotations

import re

from vivero.core.feel.grammar import ast, lexer
from vivero.core.feel.grammar.lexer import GAP_PATTERN, SIGN, STRING, unescape
from vivero.core.feel.grammar.reader import Reader
from vivero.core.feel.temporal import TemporalError, parse_temporal

_CONSTANTS = {"null": None, "true": True, "false": False}
_CONTEXT_KEY = re.compile(rf"""(?:"((?:[^"\\]|\\.)*+)"|`([^`]++)`|([^"{{}}:,\[\]`]++)){GAP_PATTERN}:""", re.DOTALL)


def constant(reader: Reader) -> ast.Node:
    value = _CONSTANTS[reader.value]
    reader.advance()
    return ast.Literal(value)


def input_value(reader: Reader) -> ast.Node:
    reader.advance()
    return ast.Input()


def at_literal(reader: Reader) -> ast.Node:
    reader.advance()
    if reader.kind != STRING:
        raise reader.error("a string after '@'")
    node = _temporal(unescape(reader.value))
    reader.advance()
    return node


def parenthesis(reader: Reader) -> ast.Node:
    reader.advance()
    if reader.take_sign(".."):
        return range_end(reader, None, False)
    node = reader.expression()
    if reader.take_sign(".."):
        return range_end(reader, node, False)
    reader.expect_sign(")")
    return node


def bracket(reader: Reader) -> ast.Node:
    reader.advance()
    if reader.take_sign("]"):
        return ast.ListLiteral(())
    node = reader.expression()
    if reader.take_sign(".."):
        return range_end(reader, node, True)
    items = [node]
    while reader.take_sign(","):
        items.append(reader.expression())
    reader.expect_sign("]")
    return ast.ListLiteral(tuple(items))


def open_range(reader: Reader) -> ast.Node:
    reader.advance()
    node = reader.sum()
    reader.expect_sign("..")
    return range_end(reader, node, False)


def range_end(reader: Reader, start: ast.Node | None, start_included: bool) -> ast.Node:
    reader.descend()
    at_range_end, reader.at_range_end = reader.at_range_end, True
    end = reader.sum()
    reader.at_range_end = at_range_end
    reader.depth -= 1
    if reader.kind != SIGN or reader.value not in (")", "]", "["):
        raise reader.error("')', ']' or '[' at the end of a range")
    end_included = reader.value == "]"
    reader.advance()
    return ast.RangeLiteral(start, end, start_included, end_included)


def context(reader: Reader) -> ast.Node:
    entries = []
    position = reader.end
    reader.advance()
    if not reader.take_sign("}"):
        entries.append(_entry(reader, position))
        while reader.is_sign(","):
            entries.append(_entry(reader, reader.end))
        reader.expect_sign("}")
    return ast.ContextLiteral(tuple(entries))


def _entry(reader: Reader, position: int) -> tuple[str, ast.Node]:
    position = lexer.skip_gap(reader.text, position)
    match = _CONTEXT_KEY.match(reader.text, position)
    if match is None or (match[3] and not match[3].strip()):
        reader.seek(position)
        raise reader.error("a key and ':'")
    string, quoted, plain = match.groups()
    key = unescape(string) if string is not None else quoted or " ".join(plain.split())
    reader.seek(match.end())
    value = reader.expression()
    reader.add_name(key)
    return key, value


def _temporal(text: str) -> ast.Literal:
    """`@"text"`. Null if the text is not a date, time or duration."""
    try:
        return ast.Literal(parse_temporal(text))
    except (TemporalError, OverflowError):
        return ast.Literal(None)
