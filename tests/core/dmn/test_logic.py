"""Boxed expressions (DMN 1.5, 7.3 and 10.2)."""

import pytest

from tests.core.dmn.models import decision, literal, value


def entry(name, logic):
    variable = f'<variable name="{name}"/>' if name else ""
    return f"<contextEntry>{variable}{logic}</contextEntry>"


def part(name, text):
    return f"<{name}>{literal(text)}</{name}>"


CONTEXT = entry("first one", literal("1")) + entry("b", literal("first one + 1"))
FUNCTION = '<functionDefinition><formalParameter name="n"/>{}</functionDefinition>'
BOXED = {
    "context": (f"<context>{CONTEXT}</context>", {"first one": 1, "b": 2}),
    "context with result": (f"<context>{CONTEXT}{entry('', literal('b * 10'))}</context>", 20),
    "function": (
        f"<context>{entry('f', FUNCTION.format(literal('n + k')))}{entry('k', literal('5'))}"
        f"{entry('', literal('f(1)'))}</context>",
        6,
    ),
    "closure": (
        f"<context>{entry('k', literal('7'))}{entry('f', FUNCTION.format(literal('n + k')))}"
        f"{entry('', literal('f(1)'))}</context>",
        8,
    ),
    "list": (f"<list>{literal('1')}<list>{literal('2')}</list></list>", [1, [2]]),
    "list with a part of another namespace": (
        f'<list><x:list xmlns:x="urn:x"/>{literal("1")}</list>',
        [1],
    ),
    "relation with a cell of another namespace": (
        f'<relation><column name="a"/><row><x:literalExpression xmlns:x="urn:x"/>{literal("1")}</row></relation>',
        [{"a": 1}],
    ),
    "relation": (
        f'<relation><column name="a"/><column name="b"/><row>{literal("1")}{literal("2")}</row></relation>',
        [{"a": 1, "b": 2}],
    ),
    "conditional": (
        f"<conditional>{part('if', '1 = 1')}{part('then', '1')}{part('else', '2')}</conditional>",
        1,
    ),
    "conditional without a boolean": (
        f"<conditional>{part('if', '1')}{part('then', '1')}{part('else', '2')}</conditional>",
        None,
    ),
    "filter": (f"<filter>{part('in', '[1, 2, 3]')}{part('match', 'item > 1')}</filter>", [2, 3]),
    "filter by entry": (f"<filter>{part('in', '[{a: 1}, {a: 2}]')}{part('match', 'a = 2')}</filter>", [{"a": 2}]),
    "filter by index": (f"<filter>{part('in', '[1, 2, 3]')}{part('match', '-1')}</filter>", 3),
    "filter of one": (f"<filter>{part('in', '7')}{part('match', 'item = 7')}</filter>", [7]),
    "for": (f'<for iteratorVariable="x">{part("in", "[1, 2]")}{part("return", "x * 2")}</for>', [2, 4]),
    "for in a range": (f'<for iteratorVariable="x">{part("in", "[1..3]")}{part("return", "x")}</for>', [1, 2, 3]),
    "for with partial": (
        f'<for iteratorVariable="x">{part("in", "[1, 2, 3]")}{part("return", "x + sum(partial)")}</for>',
        None,
    ),
    "some": (f'<some iteratorVariable="x">{part("in", "[1, 2]")}{part("satisfies", "x = 2")}</some>', True),
    "every": (f'<every iteratorVariable="x">{part("in", "[1, 2]")}{part("satisfies", "x = 2")}</every>', False),
    "every without a boolean": (
        f'<every iteratorVariable="x">{part("in", "[1, 2]")}{part("satisfies", "x")}</every>',
        None,
    ),
    "some of none": (f'<some iteratorVariable="x">{part("in", "[]")}{part("satisfies", "x")}</some>', False),
    "call of a built-in": (
        '<invocation><literalExpression><text>abs</text></literalExpression><binding><parameter name="n"/>'
        f"{literal('-1')}</binding></invocation>",
        1,
    ),
    "call of no function": (f"<invocation>{literal('1')}</invocation>", None),
}


def of_java(signature, *parameters):
    """A context whose function `f` is one of `java.lang.Math`."""
    formal = "".join(f'<formalParameter name="{name}"/>' for name in parameters)
    texts = entry("class", literal('"java.lang.Math"')) + entry("method signature", literal(f'"{signature}"'))
    mapping = f"<context>{texts}</context>"
    return entry("f", f'<functionDefinition kind="Java">{formal}{mapping}</functionDefinition>')


BOXED["function of Java"] = (
    f"<context>{of_java('max(int, int)', 'a', 'b')}{entry('', literal('f(3, 7)'))}</context>",
    7,
)
BOXED["function of Java without a result"] = (
    f"<context>{of_java('sqrt(double)', 'a')}{entry('', literal('[f(-1), f(true), f(null), f([4])]'))}</context>",
    [None, None, None, 2],
)
BOXED["for with partial"] = (BOXED["for with partial"][0].replace("sum(partial)", "count(partial)"), [1, 3, 5])


@pytest.mark.parametrize("name", BOXED)
def test_boxed(name):
    logic, expected = BOXED[name]
    assert value(decision("d", logic), "d") == expected
