"""`if`, `for`, `some` and `every`."""

from __future__ import annotations

import re

from vivero.core.feel.grammar import ast
from vivero.core.feel.grammar.lexer import NAME, NAME_PATTERN, QUOTED_NAME, SPACE
from vivero.core.feel.grammar.reader import Reader

_ITERATOR_NAME = re.compile(rf"({NAME_PATTERN}(?:{SPACE}++(?!in\b){NAME_PATTERN}){{0,7}}+){SPACE}++in\b")


def if_(reader: Reader) -> ast.Node:
    reader.advance()
    condition = reader.expression()
    reader.expect_word("then")
    then = reader.expression()
    reader.expect_word("else")
    return ast.If(condition, then, reader.expression())


def for_(reader: Reader) -> ast.Node:
    reader.advance()
    iterators = _iterators(reader)
    reader.expect_word("return")
    reader.add_name("partial")
    return ast.For(iterators, reader.expression())


def quantified(reader: Reader) -> ast.Node:
    every = reader.value == "every"
    reader.advance()
    iterators = _iterators(reader)
    reader.expect_word("satisfies")
    return ast.Quantified(every, iterators, reader.expression())


def _iterators(reader: Reader) -> tuple[tuple[str, ast.Node], ...]:
    iterators = [_iterator(reader)]
    while reader.take_sign(",") or _starts_an_iterator(reader):
        iterators.append(_iterator(reader))
    return tuple(iterators)


def _starts_an_iterator(reader: Reader) -> bool:
    """True before another iterator without a comma: DMN 1.0 separates iterators by white space only."""
    if reader.kind != NAME or reader.value in ("return", "satisfies"):
        return False
    return _ITERATOR_NAME.match(reader.text, reader.start) is not None


def _iterator(reader: Reader) -> tuple[str, ast.Node]:
    name = _iterator_name(reader)
    reader.expect_word("in")
    reader.descend()
    start = reader.sum()
    domain = ast.Steps(start, reader.sum()) if reader.take_sign("..") else start
    reader.depth -= 1
    reader.add_name(name)
    return name, domain


def _iterator_name(reader: Reader) -> str:
    if reader.kind == NAME and reader.has_known_names:
        match = _ITERATOR_NAME.match(reader.text, reader.start)
        if match:
            reader.seek(match.end(1))
            return " ".join(match[1].split())
    if reader.kind not in (NAME, QUOTED_NAME):
        raise reader.error("a name")
    name = reader.value
    reader.advance()
    return name
