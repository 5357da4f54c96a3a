"""FEEL of the DMN standard (core.feel.standard), where Camunda's FEEL differs: DMN 1.5, chapter 10."""

import pytest

from vivero.core.feel.closures.fragments import compile_fragment
from vivero.core.feel.errors import LimitExceeded
from vivero.core.feel.standard import DMN
from vivero.core.feel.standard.texts import literal_of
from vivero.core.feel.values import DEFAULT_LIMITS, Run


def text_of(expression):
    """The value of an expression, as FEEL."""
    run = Run({}, steps=DEFAULT_LIMITS.steps)
    return literal_of(run, compile_fragment(expression, dialect=DMN)(run))


def cases(text):
    """Lines `expression => value`."""
    return [tuple(part.strip() for part in line.split(" => ")) for line in text.strip().splitlines() if line.strip()]


TIMES = r"""
time("10:00:00+02:00") = time("08:00:00Z") => true
time("00:30:00+01:00") = time("23:30:00Z") => true
time("10:00:00") = time("10:00:00Z") => null
date and time("2020-01-01T10:00:00") < date and time("2020-01-01T11:00:00Z") => true
date and time("2020-01-01T11:30:00+05:00") < date and time("2020-01-01T11:00:00") => false
time("10:00:00") >= time("11:00:00-03:00") => false
time("10:00:00") between time("09:00:00Z") and time("11:00:00Z") => true
time("10:00:00") < date and time("2020-01-01T11:00:00Z") => null
for d in [@"2020-01-30"..@"2020-02-01"] return d.day => [30, 31, 1]
for d in (@"2020-01-30"..@"2020-02-01") return d.day => [31]
for d in [@"2020-01-30T00:00:00"..@"2020-02-01T00:00:00"] return d.day => null
"""
LISTS = r"""
[1, 2, 3][1.5] => null
[1, 2, 3][2.0] => 2
[1, 2, 3][1E40] => null
sublist([4, 5, 6], 0) => null
sublist([4, 5, 6], 4) => null
sublist([4, 5, 6], -3, 3) => [4, 5, 6]
sublist([4, 5, 6], 2, 3) => null
sublist([4, 5, 6], 2, 0) => null
sublist(list: [4, 5, 6], start position: 2) => [5, 6]
insert before([1, 3], 3, 2) => null
insert before([1, 3], -2, 2) => [2, 1, 3]
insert before([1, 3], 0, 2) => null
remove([1, 2, 3], 4) => null
remove([1, 2, 3], -3) => [2, 3]
append(1, 2) => [1, 2]
append(item: 2, list: [1]) => [1, 2]
append([1]) => null
concatenate(list: [1]) => [1]
concatenate([1], [2], [3]) => [1, 2, 3]
union(list: [1, 1]) => [1]
union([1], [1, 2]) => [1, 2]
append([1], [2]) => [1, [2]]
substring("foobar", 0) => null
substring("foobar", 3, 0) => null
substring("foobar", 3, 5) => null
substring("foobar", -2, 2) => "ar"
substring("", 1) => null
during("b", ["a".."c"]) => true
before("a", "b") => true
includes(["a".."c"], 1) => null
"""
TYPES = r"""
(= 10) = [10..10] => true
(= 10).start => 10
(= "a").end included => true
(= null) => null
10 in (= 10) => true
1 instance of nowhere => null
null instance of nowhere => null
[1] instance of list => null
[1] instance of list<nowhere> => null
[1] instance of list<number> => true
{a: 1} instance of context => null
{a: [1]} instance of context<a: list<number>> => true
[1..2] instance of range => null
[1..2] instance of range<number> => true
(function(a) a) instance of function => null
(function(a) a) instance of function<number> -> Any => true
@"P1D" instance of day-time-duration => true
"""
FUNCTIONS = r"""
(function(a: number) a)("x") => null
(function(a: number) a)(["x"]) => null
(function(a: string) a)(["x"]) => "x"
(function(a: list<number>) a)(1) => [1]
(function(a: list<number>) a)([1, "x"]) => null
(function(a: context<b: number>) a.b)({b: 1, c: 2}) => 1
(function(a: context<b: number>) 1)({c: 2}) => null
(function(a: number, b) [a, b])(b: "x", a: 1) => [1, "x"]
(function(a: number) a = null)(null) => true
(function(a: Any) a)([1]) => [1]
{f: function(a) function(b: number) a + b, g: f(1), r: [g(2), g("2")]}.r => [3, null]
(function(a, b) external {java: {class: "java.lang.Math", method signature: "max(int, int)"}})(3, 7) => 7
{f: function(a) external {java: {class: "java.lang.Math", method signature: "abs(double)"}}, r: f(a: -4)}.r => 4.0
{f: function(a) external {class: "java.lang.Math", method signature: "abs(int)"}, r: [f(1.5), f("1")]}.r => [null, null]
{f: function(a: number) external {class: "java.lang.Math", method signature: "abs(int)"}, r: f("1")}.r => null
"""


@pytest.mark.parametrize(("expression", "value"), cases(TIMES + LISTS + TYPES + FUNCTIONS))
def test_values(expression, value):
    assert text_of(expression) == value


PATTERNS = r"""
matches("hello world", "hello\ sworld", "x") => true
matches("helloworld", "hello world", "x") => true
matches("hello world", "hello[ ]world", "x") => true
matches("hello world", "\p{ IsBasicLatin}+", "x") => true
matches("é", "^\p{IsBasicLatin}$") => false
matches("é", "^\P{IsBasicLatin}$") => true
matches("α", "\p{IsGreek}") => true
matches("x", "\p{L}\P{N}?") => true
matches("a", "^[a-z-[aeiou]]$") => false
matches("b", "^[a-z-[aeiou]]$") => true
matches("b", "^[^a-z-[A-Z]]$") => false
matches("?", "^[^a-z-[A-Z]]$") => true
matches("A", "^[^a-z-[A-Z]]$") => false
matches("-", "^[a\-z]$") => true
matches("-", "^[-a]$") => true
matches("-", "^[a-]$") => true
matches("٣", "^\d$") => true
matches("é_", "^\w$") => false
matches("é", "^\w$") => true
matches("a b", "a\Wb") => true
matches("a", "[\W]") => false
matches("xml:id", "^\i\c*$") => true
matches("1a", "^\i\c*$") => false
matches("a\u0085b", "a\sb") => false
matches("a\n", "a$") => false
matches("a\nb", "^b$", "m") => true
matches("a\r", "a$", "m") => false
matches("a\nb", "a.b") => false
matches("a\nb", "a.b", "s") => true
matches("abab", "^(ab)\1$") => true
matches("a0", "^(a)\10$") => false
matches("aa0", "^(a)\10$") => true
matches("ab", "(?:a)(b)\1?") => true
matches("a|b", "a\|b") => true
matches("", "") => true
matches("a", "\\b") => null
matches("a", "(?=a)a") => null
matches("a", "(?i)A") => null
matches("a", "a++") => null
matches("a", "a{,2}") => null
matches("a", "\Qa\E") => null
matches("a", "a]") => null
matches("a", "}") => null
matches("a", "[]") => null
matches("a", "[[a]]") => null
matches("a", "[a-z-[b]c]") => null
matches("a", "(a)[\1]") => null
matches("a", "(a\1)") => null
matches("a", "\1(a)") => null
matches("a", "*a") => null
matches("a", "^*") => null
matches("a", "(a") => null
matches("a", "a)") => null
matches("a", "a\\") => null
matches("a", "\p{IsNowhere}") => null
matches("a", "a", "q") => null
matches("a", "a", []) => null
matches("a", "a", null) => true
replace("abc", "x*", "-") => null
replace("abc", "b", "$") => null
replace("abc", "b", "\\n") => null
replace("abc", "b", "[$0]") => "a[b]c"
replace("abc", "(b)", "$1$2$10") => "abb0c"
replace("a.b", "\.", "\$") => "a$b"
replace("Abc", "a", "x", "i") => "xbc"
replace("a1b2", "\d", "") => "ab"
split("a1b2", "\d") => ["a", "b", ""]
split("a b", "\Qb") => null
"""


@pytest.mark.parametrize(("expression", "value"), cases(PATTERNS))
def test_patterns_are_those_of_xpath(expression, value):
    assert text_of(expression) == value


@pytest.mark.parametrize("end", ["", ")"])
def test_a_pattern_costs_steps_by_its_length_when_it_is_first_read(end):
    run = Run({}, steps=DEFAULT_LIMITS.steps)
    compile_fragment(f'matches("a", "{"ab" * 400}{end}" + string(1))', dialect=DMN)(run)
    assert DEFAULT_LIMITS.steps - run.steps > 4_000


def test_a_long_pattern_is_a_limit():
    with pytest.raises(LimitExceeded):
        text_of(f'matches("a", "{"a" * 1_001}")')
