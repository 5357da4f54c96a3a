"""Unary tests, and `in` followed by unary tests."""

from __future__ import annotations

from vivero.core.feel.grammar import ast, lexer, literals
from vivero.core.feel.grammar.reader import Reader


def unary_tests(reader: Reader) -> ast.Node:
    if reader.is_word("not"):
        node = _negated_tests(reader)
        if node is not None:
            return node
    if reader.is_sign("-") and not reader.text[reader.end :].strip():
        reader.advance()
        return ast.Literal(True)
    return _tests(reader)


def _negated_tests(reader: Reader) -> ast.Node | None:
    """`not(tests)`; None if that is not the whole text, which is then read as an expression."""
    start = reader.start
    reader.advance()
    if reader.take_sign("("):
        node = _tests(reader)
        reader.expect_sign(")")
        if reader.kind == lexer.END:
            return ast.NotTest(node)
    reader.seek(start)
    return None


def _tests(reader: Reader) -> ast.Node:
    tests = [_test(reader)]
    while reader.take_sign(","):
        tests.append(_test(reader))
    return tests[0] if len(tests) == 1 else ast.AnyTest(tuple(tests))


def _test(reader: Reader) -> ast.Node:
    literal = reader.is_word("true") or reader.is_word("false")
    return as_test(reader.expression(), literal)


def in_(reader: Reader, value: ast.Node) -> ast.Node:
    if not reader.is_sign("("):
        reader.descend()
        literal = reader.is_word("true") or reader.is_word("false")
        test = as_test(reader.comparison(), literal)
        reader.depth -= 1
        return ast.In(value, test)
    reader.advance()
    test = _test(reader)
    if reader.take_sign(".."):
        if not isinstance(test, ast.Matches | ast.InputTest):
            raise reader.error("the start of a range before '..'")
        start = test.expression if isinstance(test, ast.Matches) else test.operand
        return ast.In(value, as_test(literals.range_end(reader, start, False)))
    tests = [test]
    while reader.take_sign(","):
        tests.append(_test(reader))
    reader.expect_sign(")")
    return ast.In(value, tests[0] if len(tests) == 1 else ast.AnyTest(tuple(tests)))


def as_test(node: ast.Node, is_boolean_literal: bool = False) -> ast.Node:
    """An expression as a unary test. The literals true and false are compared with the input."""
    if isinstance(node, ast.InputTest):
        return node
    if isinstance(node, ast.RangeLiteral):
        return ast.InRange(node)
    if is_boolean_literal and isinstance(node, ast.Literal):
        return ast.InputTest("=", node)
    return ast.Matches(node)
