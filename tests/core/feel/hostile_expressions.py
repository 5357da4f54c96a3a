"""Expressions that try to hurt: each has to end soon, with a value or a typed error.

Some are written out, most are made from a pattern with a size. They are of this project's own making.
"""

from __future__ import annotations

from collections.abc import Iterator


def _nested() -> Iterator[str]:
    """Text that nests: more than the limit, and as much as it allows."""
    for depth in (30, 60, 500, 2_500):
        yield "(" * depth + "1" + ")" * depth
        yield "[" * depth + "1" + "]" * depth
        yield "{a:" * depth + "1" + "}" * depth
        yield "-" * depth + "1"
        yield "not(" * depth + "true" + ")" * depth
        yield "if true then " * depth + "1" + " else 2" * depth
        yield "f(" * depth + ")" * depth
        yield "x in (" * depth + "1" + ")" * depth
        yield "for i in 1..1 return " * depth + "i"
        yield "some i in [1] satisfies " * depth + "i"
        yield "function(x) " * depth + "x"
        yield "x" + "[1]" * depth
        yield "x" + ".a" * depth
        yield "x" + "[x" * depth + "]" * depth
        yield "1" + " + 1" * depth
        yield "1" + " ** 2" * depth
        yield "true" + " and true" * depth
        yield "x" + " instance of list<" * 1 + "list<" * depth + "number" + ">" * (depth + 1)
        yield "[1.." * depth + "2" + "]" * depth


def _unfinished() -> Iterator[str]:
    """Text that stops in the middle, or is no expression at all."""
    for start in ("(", "[", "{", '"', "`", "@", "/*", "]", "x[", "f(", "{a:", "[1..", "function(", "if x then"):
        yield start * 5_000
        yield start
    yield ""
    yield " " * 90_000
    yield "\x00"
    yield "\ud800"
    yield "1" * 90_000
    yield "1." + "9" * 90_000
    yield "a" * 99_000
    yield "`" + "a" * 90_000 + "`"
    yield '"' + "\\" * 90_000
    yield "x" * 200_000
    yield "//" * 40_000
    yield "/*" * 40_000
    yield "a " * 40_000
    yield "a b(" * 10_000
    yield "and " * 20_000
    yield "," * 50_000
    yield "{" + "a b c " * 15_000
    yield "[1.." + "x[" * 10_000
    yield "]" * 10_000 + ".." + "[" * 10_000


def _loops() -> Iterator[str]:
    """Work that multiplies."""
    for size in (100_000, 100_001, 10**9, 10**30):
        yield f"for i in 1..{size} return i"
        yield f"for i in -{size}..{size} return i"
        yield f"for i in 0.5..{size} return i"
        yield f"some i in 1..{size} satisfies i < 0"
        yield f"every i in 1..{size} satisfies i > 0"
        yield f"for i in 1..{size} return i * i * i * i * i * i * i * i"
        yield f"for i in 1..{size} return for j in 1..{size} return 1"
        yield f"for i in 1..{size}, j in 1..{size} return 1"
        yield f"count(for i in 1..{size} return [i, i, i])"
        yield f'for i in 1..{size} return "x" + "y"'
        yield f"sum(for i in [1..{size}] return i)"
        yield f'for i in @"1970-01-01"..@"9999-12-31" return i + {size}'
    yield "for a in 1..99, b in 1..99, c in 1..99, d in 1..99, e in 1..99 return a"
    yield "some a in 1..99, b in 1..99, c in 1..99, d in 1..99 satisfies a + b + c + d < 0"
    yield "(for i in 1..5000 return i)[item in (for j in 1..5000 return j)]"
    yield "(for i in 1..1000 return i)[some j in 1..1000 satisfies j = item + 2000]"
    yield "for i in 1..50000 return partial"
    yield "for i in 1..50000 return count(partial)"
    yield "for i in 1..40 return [partial, partial]"
    yield "string(for i in 1..40 return [partial, partial])"
    yield "to json(for i in 1..40 return [partial, partial])"
    yield "flatten(for i in 1..40 return [partial, partial])"
    yield "{a: for i in 1..40 return [partial, partial], b: a = a}.b"
    yield "count(distinct values(for i in 1..40 return [partial, partial]))"
    yield "for i in 1..3000 return {a: partial}"
    yield "for i in 1..60 return partial.missing"
    yield "for i in 1..60 return partial.x[1]"
    yield "string(for i in 1..3000 return {a: partial})"
    yield "{a: for i in 1..3000 return [partial], b: (a = a)}.b"
    yield "for i in 1..2000 return if i = 1 then [1] else concatenate(partial[-1], partial[-1])"


def _strings() -> Iterator[str]:
    """Strings that grow."""
    yield 'for i in 1..100 return if i = 1 then "xxxxxxxx" else partial[-1] + partial[-1]'
    yield 'string join(for i in 1..100000 return "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")'
    yield 'for i in 1..60 return if i = 1 then ["x"] else [string(partial[-1]) + string(partial[-1])]'
    yield 'replace("' + "a" * 5_000 + '", "a", "' + "b" * 5_000 + '")'
    yield 'replace("' + "a" * 5_000 + '", "", "' + "b" * 5_000 + '")'
    yield 'for i in 1..50 return if i = 1 then "ab" else replace(partial[-1], "a|b", "abab")'
    yield 'for i in 1..50 return if i = 1 then "ab" else to base64(partial[-1])'
    yield 'for i in 1..50 return if i = 1 then "ab" else string join([partial[-1], partial[-1]], partial[-1])'
    yield 'count(split("' + "a" * 50_000 + '", ""))'
    yield 'upper case("' + "\u0149" * 30_000 + '")'
    yield 'extract("' + "a" * 30_000 + '", "a*")'
    yield "for i in 1..1000 return string(1e6000)"
    yield "string join(for i in 1..20000 return string(i * 1.5e3000), string(1e5000))"


def _patterns() -> Iterator[str]:
    """Regular expressions that backtrack."""
    text = "a" * 60 + "!"
    for pattern in (
        "(a+)+$",
        "(a*)*$",
        "(a|aa)+$",
        "(a|a?)+$",
        "(.*a){25}$",
        "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[^a!]",
        "((a{1,100}){1,100}){1,100}$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?:a?){60}a{60}$",
        "(a+)+\\\\1$",
    ):
        for function in ("matches", "split", "extract"):
            yield f'{function}("{text}", "{pattern}")'
        yield f'replace("{text}", "{pattern}", "$1$1$1")'
        yield f'for i in 1..50 return matches("{text}" + string(i), "{pattern}")'
    yield 'matches("x", "' + "(" * 3_000 + '")'
    yield 'matches("x", "' + "(a" * 1_000 + ")" * 1_000 + '")'
    yield 'matches("x", "' + "a{1000}" * 200 + '")'
    yield 'matches("x", "((((a{1000}){1000}){1000}){1000})")'
    yield 'matches("x", "[' + "a-z" * 10_000 + ']")'


def _numbers() -> Iterator[str]:
    """Numbers without end."""
    yield "9 ** 9 ** 9 ** 9 ** 9"
    yield "2 ** 1000000000"
    yield "2 ** -1000000000"
    yield "1.0000001 ** 1000000000000000"
    yield "0 ** -1"
    yield "(-8) ** 0.333"
    yield "1e6144 * 1e6144"
    yield "1e999999999"
    yield "1e-999999999"
    yield "1e6144 + 1e-6143"
    yield 'number("1e999999999")'
    yield 'number("' + "9" * 50_000 + '")'
    yield "decimal(1/3, 1000000)"
    yield "decimal(1/3, -1000000)"
    yield "decimal(1e6000, 6000)"
    yield "round up(1e-6000, 6000)"
    yield "floor(1e6000)"
    yield "modulo(1e6000, 3)"
    yield "modulo(1e6000, 1e-6000)"
    yield "exp(1e10)"
    yield "log(1e6000)"
    yield "sqrt(1e6001)"
    yield "product(for i in 1..20000 return 1e300)"
    yield "stddev(for i in 1..20000 return i * 1e100)"
    yield "even(1e6000)"
    yield "string(1e6000 + 1)"
    yield "to json(1e6000)"
    yield "date(1e30, 1, 1)"
    yield "date(2024, 1e30, 1)"
    yield 'date("999999999-12-31") + duration("P999999999Y")'
    yield 'duration("P99999999999999999999D")'
    yield 'duration("P1D") * 1e6000'
    yield 'duration("P1Y") / 1e-6000'
    yield "time(99, 99, 1e9)"
    yield 'date and time("2024-01-01T00:00:00@Nowhere/Else")'
    yield "[1,2,3][1e6000]"
    yield "[1,2,3][-1e6000]"
    yield 'substring("abc", 1e6000)'
    yield 'substring("abc", 1, 1e6000)'
    yield "sublist([1,2,3], 1e6000, 1e6000)"
    yield "partition([1,2,3], 1e-6000)"
    yield "insert before([1], 1e6000, 2)"
    yield "for i in 1e6000..1e6000 return i"
    yield "1e6000..2"


def _recursion() -> Iterator[str]:
    """Functions that call themselves."""
    yield "for f in [function(f) f(f)] return f(f)"
    yield "for f in [function(f, n) f(f, n + 1)] return f(f, 0)"
    yield "for f in [function(f, n) [f(f, n), f(f, n)]] return f(f, 0)"
    yield "for f in [function(f, n) if n = 0 then 1 else f(f, n - 1) + f(f, n - 1)] return f(f, 40)"
    yield "sort(for i in 1..5000 return 5000 - i, function(x, y) sort([x, y], function(a, b) a < b)[1] = x)"
    yield "sort(for i in 1..20000 return 0 - i, function(x, y) x < y)"
    yield "sort([1, 2, 3], function(x, y) null)"
    yield "sort(for i in 1..2000 return i, function(x, y) true)"


def hostile_texts() -> list[str]:
    """Those whose parse is the problem."""
    return [*_nested(), *_unfinished()]


def hostile_expressions() -> list[str]:
    """All of them."""
    return [
        *hostile_texts(),
        *_loops(),
        *_strings(),
        *_patterns(),
        *_numbers(),
        *_recursion(),
    ]
