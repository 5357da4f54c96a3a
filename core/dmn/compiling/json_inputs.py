"""Inputs that come as JSON, which has no dates: their texts become values of the types that a model declares.

DMN maps typed values of XML in the same way (DMN 1.5, 10.3.3.2). A text of another form stays a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from vivero.core.dmn.compiling.types import BUILT_IN, MOST_NAMES, Coercion
from vivero.core.dmn.model import ItemDefinition
from vivero.core.feel.semantics import type_name
from vivero.core.feel.temporal import parse_temporal
from vivero.core.feel.values import Run

Items: TypeAlias = Mapping[str, ItemDefinition]
_DATE_TIME = "date and time"
_TEMPORAL = frozenset({"date", "time", _DATE_TIME, "years and months duration", "days and time duration"})


def json_input(items: Items, name: str) -> Coercion | None:
    """The conversion of a value of JSON to a type; None if nothing in the type is a date, a time or a duration."""
    if not any(BUILT_IN.get(each) in _TEMPORAL for each in _reachable(items, name)):
        return None
    return lambda run, value: _converted(run, items, name, value, MOST_NAMES)


def _reachable(items: Items, name: str) -> Iterator[str]:
    """The names of the types that a type is made of, which are not item definitions."""
    seen, waiting = {name}, [name]
    while waiting:
        each = waiting.pop()
        if each not in items:
            yield each
            continue
        new = {reference for reference in _references(items[each]) if reference not in seen}
        seen |= new
        waiting += new


def _references(item: ItemDefinition) -> Iterator[str]:
    waiting = [item]
    while waiting:
        each = waiting.pop()
        waiting += each.components
        yield each.type_ref


def _converted(run: Run, items: Items, name: str, value: Any, left: int) -> Any:
    """`left`: how many more names the type may only stand for."""
    if name in items:
        return _of_item(run, items, items[name], value, left - 1) if left else value
    wanted = BUILT_IN.get(name)
    return _temporal(run, wanted, value) if type(value) is str and wanted in _TEMPORAL else value


def _of_item(run: Run, items: Items, item: ItemDefinition, value: Any, left: int) -> Any:
    run.spend(1)
    if item.is_list and type(value) is list:
        return [_single(run, items, item, each, MOST_NAMES) for each in value]
    return _single(run, items, item, value, left)


def _single(run: Run, items: Items, item: ItemDefinition, value: Any, left: int) -> Any:
    if not item.components:
        return _converted(run, items, item.type_ref, value, left)
    if type(value) is not dict:
        return value
    own = {each.name: each for each in item.components if each.name in value}
    return value | {name: _of_item(run, items, each, value[name], MOST_NAMES) for name, each in own.items()}


def _temporal(run: Run, wanted: str | None, text: str) -> Any:
    """The value of a text. A date stands for a date and time, too: the conversion to the type adds the time."""
    run.spend(20)
    value = parse_temporal(text)
    found = None if value is None else type_name(value)
    return value if found == wanted or (found == "date" and wanted == _DATE_TIME) else text
