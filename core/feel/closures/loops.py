"""`for`, `some` and `every` as closures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from vivero.core.feel.closures.scope import ITERATION_STEPS, Binding, Closure, Compiler, Scope
from vivero.core.feel.errors import LimitExceeded
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import warn_type
from vivero.core.feel.temporal import Date
from vivero.core.feel.values import Range, Run, is_number

_INVALID_SPAN = object()  # the domain of an iterator between values other than numbers, after the warning


class _Source:
    """An iterator of a loop: its slot, its domain, and whether the domain depends on the iterators before it."""

    __slots__ = ("dependent", "domain", "slot")

    def __init__(self, slot: int, domain: Closure, dependent: bool) -> None:
        self.slot = slot
        self.domain = domain
        self.dependent = dependent


def compile_for(c: Compiler, node: ast.For, scope: Scope) -> Closure:
    partial = c.bind()
    inner, sources = _sources(c, node.iterators, Scope(scope, {"partial": partial}))
    before = c.size
    body = c.compile(node.body, inner)
    cost = c.size - before
    if partial.used:
        return _for_with_partial(sources, body, partial.slot, ITERATION_STEPS + cost)
    if len(sources) == 1:
        return _for_one(sources[0].domain, sources[0].slot, body, 1 + cost)
    return _for_many(sources, body, ITERATION_STEPS + cost)


def compile_quantified(c: Compiler, node: ast.Quantified, scope: Scope) -> Closure:
    inner, sources = _sources(c, node.iterators, scope)
    before = c.size
    condition = c.compile_or_null(node.condition, inner)
    return _quantified(sources, condition, node.every, ITERATION_STEPS + c.size - before)


def _sources(
    c: Compiler, iterators: tuple[tuple[str, ast.Node], ...], scope: Scope
) -> tuple[Scope, tuple[_Source, ...]]:
    sources: list[_Source] = []
    bound: list[Binding] = []
    for name, domain in iterators:
        for binding in bound:
            binding.used = False
        closure = c.compile_or_null(domain, scope)
        binding = c.bind()
        sources.append(_Source(binding.slot, closure, any(b.used for b in bound)))
        bound.append(binding)
        scope = Scope(scope, {name: binding})
    return scope, tuple(sources)


def compile_steps(c: Compiler, node: ast.Steps, scope: Scope) -> Closure:
    start = c.compile(node.start, scope)
    end = c.compile(node.end, scope)

    def span(run: Run) -> Any:
        first, last = start(run), end(run)
        if type(first) is Date and type(last) is Date:
            return _dates(run, first.epoch_day, last.epoch_day)
        for value in (first, last):
            if not is_number(value):
                warn_type(run, "number", value)
                return _INVALID_SPAN
        return numbers(run, first, last)

    return span


def _dates(run: Run, first: int, last: int) -> Sequence[Any]:
    """All dates between two days since 1970-01-01."""
    return [Date.from_epoch_day(day) for day in numbers(run, first, last)]


def numbers(run: Run, first: int | Decimal, last: int | Decimal) -> Sequence[Any]:
    """All numbers from `first` to `last` in steps of 1, downwards if `first` is greater."""
    distance: Any = last - first
    size = abs(distance) + 1
    if size > run.limits.range_size:
        message = f"The range {first}..{last} exceeds the limit of {run.limits.range_size} numbers"
        raise LimitExceeded("range_size", message)
    step = 1 if first < last else -1
    if isinstance(first, int):
        return range(first, first + step * int(size), step)
    return [first + step * offset for offset in range(int(size))]


def items_of(run: Run, value: Any) -> Sequence[Any] | None:
    """The items of a loop: a list, a span, or a range of whole numbers or of dates. Otherwise warns and gives None."""
    if type(value) is list or type(value) is range:
        return value
    if type(value) is Range and type(value.start) is type(value.end) and type(value.start) in (int, Date):
        are_dates = type(value.start) is Date
        start, end = (value.start.epoch_day, value.end.epoch_day) if are_dates else (value.start, value.end)
        if start <= end:
            start, end = start + (not value.start_included), end - (not value.end_included)
            return (_dates if are_dates else numbers)(run, start, end) if start <= end else []
    if value is not _INVALID_SPAN:
        warn_type(run, "list", value)
    return None


def _for_one(domain: Closure, slot: int, body: Closure, cost: int) -> Closure:
    def for_one(run: Run) -> Any:
        items = items_of(run, domain(run))
        if items is None:
            return None
        run.spend(len(items) * cost)
        slots = run.slots
        result = []
        for item in items:
            slots[slot] = item
            result.append(body(run))
        return result

    return for_one


def _for_many(sources: tuple[_Source, ...], body: Closure, cost: int) -> Closure:
    def for_many(run: Run) -> Any:
        domains = _domains(run, sources)
        if domains is None:
            return None
        result: list[Any] = []
        for _ in _product(run, sources, domains, 0):
            run.spend(cost)
            result.append(body(run))
        run.check_list(len(result))
        return result

    return for_many


def _for_with_partial(sources: tuple[_Source, ...], body: Closure, partial: int, cost: int) -> Closure:
    """A loop whose body reads `partial`, the results so far. Each iteration gets its own list: values never change."""

    def for_with_partial(run: Run) -> Any:
        domains = _domains(run, sources)
        if domains is None:
            return None
        result: list[Any] = []
        for _ in _product(run, sources, domains, 0):
            run.spend(cost + (len(result) >> 3))
            run.slots[partial] = result[:]
            result.append(body(run))
        return result

    return for_with_partial


def _domains(run: Run, sources: tuple[_Source, ...]) -> list[Sequence[Any] | None] | None:
    """The domains; None in place of one that depends on other iterators. None alone if a domain is not a list."""
    domains: list[Sequence[Any] | None] = []
    for source in sources:
        if source.dependent:
            domains.append(None)
            continue
        domain = items_of(run, source.domain(run))
        if domain is None:
            return None
        domains.append(domain)
    return domains


def _product(run: Run, sources: tuple[_Source, ...], domains: list[Sequence[Any] | None], level: int) -> Iterator[None]:
    """Set the iterators' slots to each combination in turn. The last iterator changes fastest."""
    source, items = sources[level], domains[level]
    if items is None:
        items = items_of(run, source.domain(run)) or ()
    last = level == len(sources) - 1
    slots = run.slots
    for item in items:
        slots[source.slot] = item
        if last:
            yield
        else:
            run.spend(ITERATION_STEPS)
            yield from _product(run, sources, domains, level + 1)


def _quantified(sources: tuple[_Source, ...], condition: Closure, every: bool, cost: int) -> Closure:
    decisive = not every

    def quantified(run: Run) -> Any:
        domains = _domains(run, sources)
        if domains is None:
            return None
        result: bool | None = every
        for _ in _product(run, sources, domains, 0):
            run.spend(cost)
            value = condition(run)
            if value is decisive:
                return decisive
            if value is not every and result is every:
                warn_type(run, "boolean", value)
                result = None
        return result

    return quantified
