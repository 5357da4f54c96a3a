"""Filters of searches: from arguments in Python to the filter of a request.

assignee="ada"                      equals
state=["CREATED", "ASSIGNING"]      is one of them
due_date=Where(lt=tomorrow)         fits all operators
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import msgspec

from vivero.client.answers import NotSendable
from vivero.client.values import encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Operators of a filter, all of which must fit. `like`: a pattern with `*` and `?`."""

    eq: Any = None
    neq: Any = None
    exists: bool | None = None
    gt: Any = None
    gte: Any = None
    lt: Any = None
    lte: Any = None
    like: str | None = None
    in_: Sequence[Any] | None = None
    not_in: Sequence[Any] | None = None


TextFilter = str | Sequence[str] | Where
KeyValue = str | int
KeyFilter = KeyValue | Sequence[KeyValue] | Where
NumberFilter = int | Sequence[int] | Where
TimeFilter = datetime | str | Where
VariablesFilter = Mapping[str, Any]
"""Variables by name, with the values that they must have, or with `Where` of JSON texts."""

SHORT_NAMES = {"process": "processDefinitionId", "any_of": "$or"}
"""Names of arguments that are not those of the API in other letters."""
VARIABLES = ("variables", "process_instance_variables", "local_variables")
LISTS = ("tags", "resource_ids", "resource_property_names", "event_types", "metadata")
"""Filters whose value the API wants as a list."""
_UPPER = re.compile(r"_([a-z])")


def api_name(name: str) -> str:
    """The API's name of a field or a filter: process_instance_key → processInstanceKey."""
    return SHORT_NAMES.get(name) or _UPPER.sub(lambda found: found[1].upper(), name)


def filter_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filter of a request. Raises NotSendable for a value that would not restrict what is found."""
    return {api_name(name): _entry(name, value) for name, value in given.items()}


def _entry(name: str, value: Any) -> Any:
    if value is None:
        raise NotSendable(f"the filter {name!r} is None: leave it out, or write Where(exists=False)")
    if name == "any_of":
        return [filter_of(_filled(name, one)) for one in _some(name, value)]
    if isinstance(value, Mapping):
        _filled(name, value)
    if name in VARIABLES and isinstance(value, Mapping):
        return [{"name": each, "value": _variable(each, given)} for each, given in value.items()]
    if name in LISTS:
        return value if isinstance(value, Mapping) else _some(name, value)
    if isinstance(value, Where):
        return _operators(name, value)
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return _operand(name, value)
    return {"$in": [_operand(name, one) for one in _some(name, value)]}


def _some(name: str, values: Any) -> list[Any]:
    """A list that is not empty: servers read an empty one as no filter at all."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise NotSendable(f"the filter {name!r} must be a list, not {values!r}")
    found = list(values)
    if not found:
        raise NotSendable(f"the filter {name!r} has no values: the server would find everything")
    return found


def _filled(name: str, value: Any) -> Mapping[str, Any]:
    """A mapping that is not empty: servers read an empty one as no filter at all."""
    if not isinstance(value, Mapping):
        raise NotSendable(f"the filter {name!r} must have mappings, not {value!r}")
    if not value:
        raise NotSendable(f"the filter {name!r} has an empty mapping: the server would find everything")
    return value


def _operators(name: str, where: Where) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(where):
        value = getattr(where, field.name)
        if value is not None:
            listed = field.name in ("in_", "not_in")
            operand = [_operand(name, one) for one in _some(name, value)] if listed else _operand(name, value)
            found[f"${_UPPER.sub(lambda at: at[1].upper(), field.name.rstrip('_'))}"] = operand
    if not found:
        raise NotSendable(f"the filter {name!r} has no operator: the server would find everything")
    return found


def _operand(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise NotSendable(f"the filter {name!r} has a time without a time zone: write datetime.now(UTC)")
        return value.isoformat()
    if type(value) is int and name.endswith("_key"):
        return str(value)
    if not isinstance(value, str | int):
        raise NotSendable(f"the filter {name!r} must not be {value!r}: give a text, a number, a time or a flag")
    return value


def _variable(name: str, value: Any) -> Any:
    """The value of a variable as JSON text."""
    if isinstance(value, Where):
        return _operators(name, value)
    try:
        return encoded(value).decode()
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise NotSendable(f"the variable {name!r} of the filter has no form in JSON: {error}") from error
