"""Built-in functions on strings and Java's regular expressions."""

import time

import pytest

from vivero.core.feel import FeelLimits, LimitExceeded, compile_expression
from vivero.core.feel.builtins import java_patterns
from vivero.core.feel.values import Run


def call(expression, limits=None, **variables):
    compiled = compile_expression(expression, limits=limits) if limits else compile_expression(expression)
    return compiled.evaluate(variables)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('substring("foobar", 3)', "obar"),
        ('substring("foobar", -2)', "ar"),
        ('substring("foobar", 3, 3)', "oba"),
        ('substring("foobar", -3, 2)', "ba"),
        ('substring("foobar", 3, 10)', "obar"),
        ('substring("foobar", 3, 0)', ""),
        ('substring("foobar", 7)', ""),
        ('substring("foobar", 2.9)', "oobar"),
        ('substring("🐎ab", 2, 1)', "a"),
        ('substring(start position: 2, string: "abc", length: 1)', "b"),
        ('string length("🐎")', 1),
        ('upper case("aßc4")', "ASSC4"),
        ('lower case("ABc4")', "abc4"),
        ('substring before("foobar", "bar")', "foo"),
        ('substring before("foobar", "xyz")', ""),
        ('substring before("abc", "")', ""),
        ('substring after("foobar", "ob")', "ar"),
        ('substring after("foobar", "xyz")', ""),
        ('substring after("foo", "")', "foo"),
        ('contains("foobar", "of")', False),
        ('starts with("foobar", "fo")', True),
        ('ends with("foobar", "r")', True),
        ('trim(" \t hello   world \n")', "hello   world"),
        ('trim("\u00a0x\u00a0")', "\u00a0x\u00a0"),
        ('is blank(" \t\n\r\f\u2003")', True),
        ('is blank("\u00a0")', False),
        ('is blank("")', True),
        ('to base64("FEEL ü")', "RkVFTCDDvA=="),
        ('from base64("RkVFTCDDvA==")', "FEEL ü"),
        ('from base64("RkVFTA")', "FEEL"),
    ],
)
def test_strings(expression, expected):
    assert call(expression) == (expected, [])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('substring("foobar", 9)', "The start position 9 is out of range"),
        ('substring("foobar", -9)', "The start position -9 is out of range"),
        ('substring("foobar", 1, -1)', "The length -1 is negative"),
        ("substring(null, 1)", "Illegal arguments: 'null', '1'"),
        ("string length(1)", "Illegal arguments: '1'"),
        ('contains("a", null)', "Illegal arguments: '\"a\"', 'null'"),
        ('from base64("!!!")', "Invalid Base64 value '!!!'"),
        ('matches("abc", "[a-z")', "Invalid pattern '[a-z'"),
        ('replace("abc", "([a-z)", "$1")', "Invalid pattern '([a-z)'"),
        ('replace("abc", "b", "$1")', "Invalid pattern 'b'"),
        ('replace("abc", "b", "$x")', "Invalid pattern 'b'"),
        ('split("abc", "(")', "Invalid pattern for delimiter '('"),
        ('extract("abc", "*")', "Invalid pattern '*'"),
    ],
)
def test_failures_give_null_and_say_why(expression, message):
    value, (warning,) = call(expression)
    name = expression.partition("(")[0]
    assert value is None
    assert warning == ("FUNCTION_INVOCATION_FAILURE", f"Failed to invoke function '{name}': {message}")


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "found"),
    [
        ("foobar", "^fo*b", "", True),
        ("a\nb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("a\rb", "a.b", "", False),
        ("a\nb", "^b$", "", False),
        ("a\nb", "^b$", "m", True),
        ("a\rb", "^b$", "m", True),
        ("a\r\nb", "a$", "m", True),
        ("a\r\nb", "a\r$", "m", False),
        ("a\n", "a$", "", True),
        ("a\r\n", "a$", "", True),
        ("a\n\n", "a$", "", False),
        ("a\n", r"a\z", "", False),
        ("a\n", r"a\Z", "", True),
        ("a\n", r"\n^", "m", False),
        ("FooBar", "foo", "i", True),
        ("STRASSE", "straße", "i", False),
        ("Ä", "ä", "i", True),
        ("FooBar", "(?i)foo", "", True),
        ("FooBar", "(?i:f)oobar", "", False),
        ("FooBar", "F(?i)OO(?-i)Bar", "", True),
        ("hello", "h e l l o # comment", "x", True),
        ("a b", r"a\ b", "x", True),
        ("ab", "[a b]{2}$", "x", True),
        ("٣", r"\d", "", False),
        ("٣", r"(?U)\d", "", True),
        ("é", r"\w", "", False),
        ("é", r"\p{L}", "", True),
        ("é", r"\p{Alpha}", "", False),
        ("é", r"\P{Alpha}", "", True),
        ("x", r"\pL", "", True),
        ("\u00a0", r"\h", "", True),
        ("\u00a0", r"\s", "", False),
        ("q", "[a-z&&[^q]]", "", False),
        ("r", "[a-z&&[^q]]", "", True),
        ("n", "[a-d[m-p]]", "", True),
        ("-", r"[\w-]", "", True),
        (":", "[[:alpha:]]", "", True),
        ("|", "[a||b]", "", True),
        ("]", "[]a]", "", True),
        ("^", "[a^]", "", True),
        ("a.b", r"\Qa.b\E", "", True),
        ("axb", r"\Qa.b\E", "", False),
        (".", r"[\Q.\E]", "", True),
        ("aa", r"(a)\1", "", True),
        ("abab", r"(?<x>ab)\k<x>", "", True),
        ("A", r"\x41\u0042?\x{43}?\0101?", "", True),
        ("\x01", r"\cA", "", True),
        ("aaa", "a++a", "", False),
        ("abc", "(?<=a)b(?=c)(?!d)", "", True),
        ("a\r\nb", r"a\Rb", "", True),
        ("input", "x{2}", "", False),
    ],
)
def test_patterns_mean_what_they_mean_in_java(text, pattern, flags, found):
    assert call("matches(t, p, f)", t=text, p=pattern, f=flags) == (found, [])


@pytest.mark.parametrize(
    "pattern",
    [
        "(?R)",
        "(?1)",
        "(?P<x>a)",
        "(?|a|b)",
        "(?#x)",
        "(?&x)",
        "(*FAIL)",
        "*a",
        "a|+b",
        "a**",
        "x{e<=1}",
        "(?:foo){i<=2}",
        "x{,3}",
        "{",
        "a)",
        "(a",
        "[a",
        r"\3",
        r"(asd)[\1]",
        r"[\0]",
        r"\y",
        r"\i",
        r"\L<x>",
        r"\p{ IsBasicLatin}",
        r"\p{NoSuchProperty}",
        r"\x{110000}",
        "x{3,1}",
        "\\",
    ],
)
def test_what_java_does_not_know_is_refused(pattern):
    value, (warning,) = call("matches(t, p)", t="x", p=pattern)
    assert value is None
    assert warning.message == f"Failed to invoke function 'matches': Invalid pattern '{pattern}'"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")', "[1=ab][2=]cd"),
        ('replace("How do you feel?", "Feel", "FEEL", "i")', "How do you FEEL?"),
        ('replace("baac", "a*", "-")', "-b--c-"),
        ('replace("abc", "(b)", "<$11>")', "a<b1>c"),
        ('replace("abc", "(?<x>b)", "<${x}$0>")', "a<bb>c"),
        ('replace("facetiously","[iouy]","[$0]")', "facet[i][o][u]sl[y]"),
        ('replace("a", "a", "b", null)', "b"),
        ('split("John Doe", "\\s")', ["John", "Doe"]),
        ('split("a;b;c;;", ";")', ["a", "b", "c", "", ""]),
        ('split(";a", ";")', ["", "a"]),
        ('split("abc", "")', ["a", "b", "c", ""]),
        ('split("abc", "x")', ["abc"]),
        ('split("", ";")', [""]),
        ('extract("references are 1234, 1256, 1378", "12[0-9]*")', ["1234", "1256"]),
        ('extract("abc", "x")', []),
        ('extract(string: "aXbX", pattern: "X")', ["X", "X"]),
    ],
)
def test_replace_split_extract(expression, expected):
    assert call(expression) == (expected, [])


def test_backslashes_quote_in_replacements():
    assert call("replace(t, p, r)", t="abc", p="b", r=r"\$1\\").value == "a$1\\c"
    assert call("replace(t, p, r)", t="abc", p="b", r="\\").value is None


def test_group_eleven_is_meant_where_there_are_eleven():
    pattern = "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)"
    assert call("replace(t, p, r)", t="abcdefghijk", p=pattern, r="$11").value == "k"


CATASTROPHES = [
    ("(a|a)*b", "a" * 40),
    ("(x+x+)+y", "x" * 400),
    (r"(.*)*\1!", "abcd" * 200),
    ("(a?){60}a{60}", "a" * 60),
    ("(?:(?:a*)*)*c", "a" * 4000),
    (".*.*.*.*=", "a" * 5_000),
    ("(?<=a*b*)c", "ab" * 5_000),
]


@pytest.mark.parametrize(("pattern", "text"), CATASTROPHES)
def test_catastrophic_patterns_end_in_time(pattern, text):
    started = time.perf_counter()
    try:
        call("matches(t, p)", t=text, p=pattern)
    except LimitExceeded as e:
        assert e.limit in ("regex_timeout_ms", "steps")  # noqa: PT017
    assert time.perf_counter() - started < 0.5


def test_the_time_limit_ends_the_evaluation():
    limits = FeelLimits(regex_timeout_ms=1)
    with pytest.raises(LimitExceeded, match="takes more than 1 ms") as caught:
        call("matches(t, p)", limits, t="x" * 4_000, p="(x+x+)+y")
    assert caught.value.limit == "regex_timeout_ms"


@pytest.mark.parametrize("pattern", ["a" * 1_001, r"\h" * 200])
def test_long_patterns_are_refused(pattern):
    with pytest.raises(LimitExceeded, match="regular expression of"):
        call("matches(t, p)", t="x", p=pattern)


def test_new_patterns_take_steps_but_known_ones_do_not():
    pattern = "never compiled before [a-f]+"
    first, second = Run({}), Run({})
    java_patterns.compile_pattern(first, pattern, "", "")
    java_patterns.compile_pattern(second, pattern, "", "")
    assert first.steps < second.steps == Run({}).steps


def test_replacements_and_joins_are_bounded():
    limits = FeelLimits(string_size=1_000)
    with pytest.raises(LimitExceeded, match="string of"):
        call('replace(t, "a", r)', limits, t="a" * 100, r="b" * 20)
    with pytest.raises(LimitExceeded, match="string of"):
        call("string join(l, d)", limits, l=["a"] * 100, d="b" * 20)


def test_uuids_and_random_numbers_differ():
    first, second = call("uuid()").value, call("uuid()").value
    assert first != second
    assert len(first) == 36
    assert first[14] == "4"
    numbers = call("for i in 1..20 return random number()").value
    assert len(set(numbers)) == 20
    assert all(0 <= number < 1 for number in numbers)
