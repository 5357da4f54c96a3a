"""Types of a model: whether a value conforms, and its conversion where another type is wanted (DMN 1.5, 10.3.2.9.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.dmn.compiling.effort import Effort
from vivero.core.dmn.compiling.linking import Linked
from vivero.core.dmn.model import ItemDefinition, Text
from vivero.core.feel.closures.fragments import compile_test
from vivero.core.feel.errors import ParseError
from vivero.core.feel.semantics import type_name
from vivero.core.feel.standard import DMN
from vivero.core.feel.temporal import Date, DateTime
from vivero.core.feel.values import INVALID_TYPE, BuiltinFunction, FeelLimits, Function, Run

Check: TypeAlias = Callable[[Run, Any], bool]
"""Whether a value conforms to a type. Null conforms to all."""

BUILT_IN: Mapping[str, str] = {
    **{name: name for name in ("string", "number", "boolean", "date", "time", "date and time", "context", "list")},
    **{name: name for name in ("function", "range", "years and months duration", "days and time duration")},
    "dateTime": "date and time",
    "yearMonthDuration": "years and months duration",
    "dayTimeDuration": "days and time duration",
}
"""Name in a file → FEEL's name of the type."""
MOST_NAMES = 64
"""Types that a type may stand for, each of which is only another name of the next one."""
CHECK_STEPS = 5
"""Steps that the check of a list or a context takes, beside one for each item."""
ANYTHING = frozenset({"", "Any", "Null", "undefined"})


def _anything(run: Run, value: Any) -> bool:
    return True


def _named(name: str) -> Check:
    return lambda run, value: value is None or type_name(value) == name


class Types:
    """The types that a file may use: FEEL's, its own, and those of files that it imports under `import.name`."""

    def __init__(
        self, resource: str, linked: Linked, report: Report, limits: FeelLimits, effort: Effort | None = None
    ) -> None:
        self._report, self._limits = report, limits
        self.effort = effort or Effort()
        self._checks: dict[tuple[str, bool], Check] = {}
        self._missing: list[tuple[str, bool]] = []
        """Checks that are asked for and not made yet."""
        self._items = {each.name: each for each in linked.files[resource].types}
        for imported, file in linked.imported(resource):
            self._add_imported(imported.name, file.types)
        self._unknown: set[str] = set()

    def _add_imported(self, prefix: str, types: tuple[ItemDefinition, ...]) -> None:
        """Types of another file. Their references are to types of that file."""
        own = {each.name for each in types}
        for each in types:
            self._items[f"{prefix}.{each.name}"] = _qualified(each, prefix, own)

    @property
    def tests(self) -> Mapping[str, Check]:
        """The tests of `instance of`, by the name of the type. They do not look at allowed values."""
        return {name: self.check(name, with_values=False) for name in self._items}

    def check(self, name: str, with_values: bool = True) -> Check:
        """The check of a type. An unknown type gets a warning, and everything conforms to it."""
        if name in ANYTHING:
            return _anything
        if name in BUILT_IN and name not in self._items:
            return _named(BUILT_IN[name])
        if name not in self._items:
            self._warn_of(name)
            return _anything
        return self._named_check(name, with_values)

    @property
    def items(self) -> Mapping[str, ItemDefinition]:
        """The types of the file and of those that it imports, by name."""
        return self._items

    def result_of(self, name: str) -> str:
        """The type of a function's result, if `name` is a type of functions; otherwise the type itself."""
        item = self._items.get(name)
        return name if item is None or item.function is None else item.function.result

    def _warn_of(self, name: str) -> None:
        if name not in self._unknown:
            self._unknown.add(name)
            self._report.warn_of_file(f"the type {quote(name)} is unknown; every value conforms to it")

    def _named_check(self, name: str, with_values: bool) -> Check:
        """The check of an item definition, which is made when it is first used: types may contain themselves."""

        def check(run: Run, value: Any) -> bool:
            return self._checks[key](run, value)

        key = name, with_values
        if key not in self._checks:
            self._checks[key] = _anything  # for a type that is only itself
            self._missing.append(key)
            if len(self._missing) == 1:
                self._make_missing()
        return check

    def _make_missing(self) -> None:
        """Make the checks of a type and of those that it refers to, one after the other, however many these are."""
        for name, with_values in self._missing:  # grows meanwhile
            self._checks[name, with_values] = self._of_item(self._items[name], with_values)
        self._missing.clear()

    def _of_item(self, item: ItemDefinition, with_values: bool) -> Check:
        check = self._base(item, with_values)
        if with_values:
            check = self._with_values(check, item.allowed)
        if item.is_list:
            check = _list_of(check)
        return self._with_values(check, item.constraint) if with_values else check

    def _base(self, item: ItemDefinition, with_values: bool) -> Check:
        if item.function is not None:
            return _function_of(len(item.function.parameters))
        if item.components:
            return _context_of({each.name: self._of_item(each, with_values) for each in item.components})
        return _anything if self._is_endless(item) else self.check(item.type_ref, with_values)

    def _is_endless(self, item: ItemDefinition) -> bool:
        """True for a name that only stands for itself, directly or through other names, and for one that stands for
        too many others, which is a problem."""
        seen: list[str] = []
        found: ItemDefinition | None = item
        while found is not None and not (found.components or found.is_list or found.function):
            if found.name in seen:
                return True
            if len(seen) == MOST_NAMES:
                text = f"the type {quote(item.name)} stands for more than {MOST_NAMES} others, one after the other"
                self._report.add_file_problem(text)
                return True
            seen.append(found.name)
            found = self._items.get(found.type_ref)
        return False

    def _with_values(self, base: Check, allowed: Text | None) -> Check:
        """The check of a type with a list of allowed values."""
        passes = None if allowed is None else self.values(allowed)
        if passes is None:
            return base
        return lambda run, value: value is None or (base(run, value) and passes(run, value))

    def values(self, allowed: Text) -> Check | None:
        """Whether a value passes unary tests; None if these cannot be read, which is a problem."""
        self.effort.spend_on_text(allowed.text)
        try:
            test = compile_test(allowed.text, dialect=DMN, limits=self._limits)
        except ParseError as error:
            text = f"FEEL unary-tests: failed to parse {quote(allowed.text)}: {error}"
            self._report.add_problem_at(allowed.id, allowed.line, text)
            return None

        def passes(run: Run, value: Any) -> bool:
            run.spend(test.size)
            outer, run.slots = run.slots, [value] + [None] * test.slots
            try:
                return test.closure(run) is True
            finally:
                run.slots = outer

        return passes


def _qualified(item: ItemDefinition, prefix: str, own: set[str]) -> ItemDefinition:
    type_ref = f"{prefix}.{item.type_ref}" if item.type_ref in own else item.type_ref
    components = tuple(_qualified(each, prefix, own) for each in item.components)
    return replace(item, type_ref=type_ref, components=components)


def _list_of(check: Check) -> Check:
    def check_list(run: Run, value: Any) -> bool:
        if value is None:
            return True
        if type(value) is not list:
            return False
        run.spend(CHECK_STEPS + len(value))
        return all(check(run, item) for item in value)

    return check_list


def _context_of(checks: Mapping[str, Check]) -> Check:
    def check_context(run: Run, value: Any) -> bool:
        if value is None:
            return True
        run.spend(CHECK_STEPS + len(checks))
        return type(value) is dict and all(name in value and check(run, value[name]) for name, check in checks.items())

    return check_context


def _function_of(parameters: int) -> Check:
    def check_function(run: Run, value: Any) -> bool:
        if isinstance(value, Function):
            return len(value.parameters) == parameters
        return value is None or isinstance(value, BuiltinFunction)

    return check_function


Coercion: TypeAlias = Callable[[Run, Any], Any]


def coercion(check: Check, name: str) -> Coercion | None:
    """The conversion to a type, which gives null and a warning for what does not fit; None if everything does."""
    if check is _anything:
        return None

    def coerce(run: Run, value: Any) -> Any:
        if value is None or check(run, value):
            return value
        if type(value) is list and len(value) == 1 and check(run, value[0]):
            return value[0]
        for converted in ([value], _midnight(value)):
            if converted is not None and check(run, converted):
                return converted
        if run.may_warn():
            run.warn(INVALID_TYPE, f"Expected {name} but found a value of type {type_name(value)}")
        return None

    return coerce


def _midnight(value: Any) -> Any:
    """A date as a date and time at midnight UTC."""
    return DateTime(value, 0, 0) if isinstance(value, Date) else None


def checked_by_camunda(name: str) -> Check | None:
    """The check of a result's type in Camunda's engine, which knows few names; None for all others."""
    known = ("string", "number", "boolean", "time", "date", "dateTime", "dayTimeDuration", "yearMonthDuration")
    return _named(BUILT_IN[name]) if name in known else None
