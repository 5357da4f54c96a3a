"""Functions of Java that decisions may call (core.feel.standard.java): the values that Java's documentation gives."""

from decimal import Decimal

import pytest

from vivero.core.feel.errors import LimitExceeded
from vivero.core.feel.standard.java import METHODS, UnknownMethod, method_of
from vivero.core.feel.standard.lambdas import java_call
from vivero.core.feel.values import DEFAULT_LIMITS, Run


def call(owner, signature, *arguments):
    method = method_of({"class": f"java.{owner}", "method signature": signature}, len(arguments))
    return java_call(method)(Run({}, steps=DEFAULT_LIMITS.steps), arguments)


@pytest.mark.parametrize(
    ("owner", "signature", "arguments", "value"),
    [
        ("lang.Math", "cos(double)", (0,), 1),
        ("lang.Math", "cos( double )", ([0],), 1),
        ("lang.Math", "pow(double, double)", (3, 2), 9),
        ("lang.Math", "max(double,double)", (Decimal("1.5"), 1), Decimal("1.5")),
        ("lang.Math", "max(float, float)", (Decimal("0.1"), 0), Decimal("0.10000000149011612")),
        ("lang.Math", "max(int,int)", (1, 2), 2),
        ("lang.Math", "abs(int)", (-2_147_483_648,), -2_147_483_648),
        ("lang.Math", "abs(int)", (2_147_483_648,), None),
        ("lang.Math", "abs(long)", (-(2**63) - 1,), None),
        ("lang.Math", "abs(int)", (Decimal("1.5"),), None),
        ("lang.Math", "abs(int)", ("1",), None),
        ("lang.Math", "abs(int)", (None,), None),
        ("lang.Math", "addExact(int,int)", (2_147_483_647, 1), None),
        ("lang.Math", "floorMod(int,int)", (-7, 3), 2),
        ("lang.Math", "floorMod(int,int)", (1, 0), None),
        ("lang.Math", "round(double)", (Decimal("-2.5"),), -2),
        ("lang.Math", "round(double)", (Decimal("2.5"),), 3),
        ("lang.Math", "rint(double)", (Decimal("2.5"),), 2),
        ("lang.Math", "cbrt(double)", (-27,), -3),
        ("lang.Math", "ceil(double)", (Decimal("-0.5"),), 0),
        ("lang.Math", "sqrt(double)", (-1,), None),
        ("lang.Math", "log(double)", (0,), None),
        ("lang.Math", "exp(double)", (1000,), None),
        ("lang.Math", "exp(double)", (Decimal("1E+6000"),), None),
        ("lang.StrictMath", "hypot(double,double)", (3, 4), 5),
        ("lang.Integer", "valueOf(java.lang.String)", ("+45",), 45),
        ("lang.Integer", "valueOf(String)", ("4 5",), None),
        ("lang.Integer", "parseInt(java.lang.String)", ("2147483648",), None),
        ("lang.Integer", "toHexString(int)", (-1,), "ffffffff"),
        ("lang.Integer", "sum(int,int)", (2_147_483_647, 1), -2_147_483_648),
        ("lang.Long", "parseLong(java.lang.String)", ("-9",), -9),
        ("lang.Byte", "valueOf(byte)", (128,), None),
        ("lang.Short", "compare(short, short)", (5, 3), 2),
        ("lang.Double", "valueOf(java.lang.String)", (" 1.5e1 ",), 15),
        ("lang.Double", "parseDouble(java.lang.String)", ("NaN",), None),
        ("lang.Float", "parseFloat(java.lang.String)", ("0.1",), Decimal("0.10000000149011612")),
        ("lang.Double", "toString(double)", (Decimal("12345678"),), "1.2345678E7"),
        ("lang.Double", "toString(double)", (1,), "1.0"),
        ("lang.Double", "toString(double)", (Decimal("0.0001"),), "1.0E-4"),
        ("lang.Boolean", "parseBoolean(java.lang.String)", ("TRUE",), True),
        ("lang.Boolean", "logicalXor(boolean,boolean)", (True, 1), None),
        ("lang.Character", "toUpperCase(char)", ("a",), "A"),
        ("lang.Character", "toUpperCase(char)", ("ab",), None),
        ("lang.String", "valueOf(boolean)", (True,), "true"),
        ("lang.String", "valueOf(java.lang.Object)", (None,), "null"),
        ("lang.String", "valueOf(Object)", ("a",), "a"),
        ("lang.String", "join(java.lang.CharSequence, java.lang.Iterable)", ("-", ["a", "b"]), "a-b"),
        ("lang.String", "join(java.lang.CharSequence, [Ljava.lang.CharSequence;)", ("-", ["a"]), "a"),
        ("lang.String", "join(java.lang.CharSequence, java.lang.CharSequence...)", ("-", [1]), None),
        ("math.BigDecimal", "valueOf(long)", (7,), 7),
    ],
)
def test_values(owner, signature, arguments, value):
    assert call(owner, signature, *arguments) == value


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("%s and %s", ["a", 1], "a and 1"),
        ("%2$s %1$S", ["a", "b"], "b A"),
        ("%.2f", [Decimal("1.005")], "1.01"),
        ("%f|%e", [Decimal("1.5"), 12345], "1.500000|1.234500e+04"),
        ("%,d %+d %(d", [1234567, 5, -5], "1,234,567 +5 (5)"),
        ("%05d|%-5s|%5s|", [-42, "a", "b"], "-0042|a    |    b|"),
        ("%.2s%n%%", ["abc"], "ab\n%"),
        ("%b %b %c", [None, 0, "x"], "false true x"),
        ("%s", [None], "null"),
        ("%s", "a", "a"),
        ("%d", [Decimal("1.5")], None),
        ("%d", ["a"], None),
        ("%s %s", ["a"], None),
        ("100%", [], None),
        ("%q", ["a"], None),
    ],
)
def test_formats(template, arguments, text):
    assert call("lang.String", "format(java.lang.String, [Ljava.lang.Object;)", template, arguments) == text


def test_a_long_format_is_a_limit():
    with pytest.raises(LimitExceeded):
        call("lang.String", "format(String, Object...)", "%9999s" * 200, ["a"] * 200)


def test_texts_cost_steps_by_their_size():
    run = Run({}, steps=DEFAULT_LIMITS.steps)
    wide = java_call(method_of({"class": "java.lang.String", "method signature": "format(String, Object...)"}, 2))
    joined = java_call(
        method_of({"class": "java.lang.String", "method signature": "join(String, java.lang.Iterable)"}, 2)
    )
    for call, arguments in ((wide, ["%9999s" * 50, ["a"] * 50]), (joined, ["x" * 9_999, ["a"] * 50])):
        before = run.steps
        assert len(call(run, arguments)) > 490_000
        assert before - run.steps > 490_000 // 64


def test_a_failure_in_java_is_a_warning():
    run = Run({}, steps=DEFAULT_LIMITS.steps)
    method = method_of({"java": {"class": "java.lang.Math", "method signature": "abs(int)"}}, 1)
    assert java_call(method)(run, ["a"]) is None
    assert [each.message for each in run.warnings] == [
        "Failed to invoke function 'java.lang.Math.abs': a number is expected"
    ]


def test_nothing_else_can_be_called():
    for owner, methods in METHODS.items():
        assert owner.startswith(("java.lang.", "java.math."))
        for name, kinds in methods:
            method_of({"class": owner, "method signature": f"{name}({', '.join(kinds)})"}, len(kinds))
    with pytest.raises(UnknownMethod, match="is not among the supported ones"):
        method_of({"class": "java.lang.Runtime", "method signature": "getRuntime()"}, 0)
