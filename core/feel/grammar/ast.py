"""The syntax tree: immutable tuples, one type for each construct of the grammar (DMN 1.5, 10.3.1.2).

The nodes are named tuples and not data classes, because a parse creates many of them and a tuple is several times
cheaper to build.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Node: TypeAlias = Any  # one of the classes below; a union would need a forward reference in every field


class Literal(NamedTuple):
    """`null`, `true`, `1.5`, `"text"` and `@"2024-01-31"`."""

    value: Any


class Input(NamedTuple):
    """`?`, the value that a unary test tests."""


class Name(NamedTuple):
    name: str


class Path(NamedTuple):
    """`base.key1.key2`"""

    base: Node
    keys: tuple[str, ...]


class Filter(NamedTuple):
    """`base[condition]`"""

    base: Node
    condition: Node


class ListLiteral(NamedTuple):
    items: tuple[Node, ...]


class ContextLiteral(NamedTuple):
    entries: tuple[tuple[str, Node], ...]


class RangeLiteral(NamedTuple):
    """`[start..end]`, `(start..end)`, `(>= start)`. A missing end is None."""

    start: Node | None
    end: Node | None
    start_included: bool
    end_included: bool


class FunctionLiteral(NamedTuple):
    """`function(a: number, b) body`. A parameter without a type has None."""

    parameters: tuple[str, ...]
    types: tuple[TypeName | None, ...]
    body: Node


class ExternalFunction(NamedTuple):
    """`function(a) external {java: {class: "…", method signature: "…"}}`, and its place in the text."""

    parameters: tuple[str, ...]
    types: tuple[TypeName | None, ...]
    mapping: Node
    line: int
    column: int


class Call(NamedTuple):
    """`name(1, 2)` or `name(a: 1)`. With `base`, the function is an entry of the context that `base` gives."""

    base: Node | None
    name: str
    arguments: tuple[Node, ...]
    names: tuple[str, ...] | None  # None: the call passes its arguments by position


class Apply(NamedTuple):
    """`f(1)(2)`: a call of the function that the expression before the parenthesis gives."""

    function: Node
    arguments: tuple[Node, ...]
    names: tuple[str, ...] | None


class Negate(NamedTuple):
    """`-operand`"""

    operand: Node


class Arithmetic(NamedTuple):
    """`first + second - third`: operators of one precedence, from left to right."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


class Compare(NamedTuple):
    """`left < right`. The operators are = != < <= > >=."""

    operator: str
    left: Node
    right: Node


class Between(NamedTuple):
    value: Node
    low: Node
    high: Node


class In(NamedTuple):
    """`value in test` and `value in (test, test)`"""

    value: Node
    test: Node


class InstanceOf(NamedTuple):
    value: Node
    type: TypeName


class TypeName(NamedTuple):
    """`number`, `list<number>`, `context<a: string>`, `function<number> -> string`"""

    name: str
    arguments: tuple[TypeName, ...] = ()
    keys: tuple[str, ...] = ()
    result: TypeName | None = None


class Conjunction(NamedTuple):
    """`a and b and c`"""

    operands: tuple[Node, ...]


class Disjunction(NamedTuple):
    """`a or b or c`"""

    operands: tuple[Node, ...]


class If(NamedTuple):
    condition: Node
    then: Node
    otherwise: Node


class Steps(NamedTuple):
    """`start..end` after `in` of an iterator: from start to end in steps of 1, upwards or downwards."""

    start: Node
    end: Node


class For(NamedTuple):
    iterators: tuple[tuple[str, Node], ...]
    body: Node


class Quantified(NamedTuple):
    """`some x in xs satisfies c`, `every …`"""

    every: bool
    iterators: tuple[tuple[str, Node], ...]
    condition: Node


class InputTest(NamedTuple):
    """`< 5` as a unary test: a comparison with the input."""

    operator: str
    operand: Node


class InRange(NamedTuple):
    """An interval as a unary test."""

    range: RangeLiteral


class Matches(NamedTuple):
    """An expression as a unary test. It passes if it is true, equals the input, or is a list that contains it."""

    expression: Node


class AnyTest(NamedTuple):
    """`test, test`"""

    tests: tuple[Node, ...]


class NotTest(NamedTuple):
    """`not(test, test)`"""

    test: Node
