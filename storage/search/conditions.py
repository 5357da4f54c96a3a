"""Conditions: the filter of one field as SQL.

An operator on an enumeration selects some of its values; PostgreSQL compares with those values.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from vivero.storage.search.fields import FLAG, LISTS, PLAIN, Field
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.patterns import ANY_ONE, ANY_RUN, like_pattern, matches, pattern_tokens
from vivero.storage.search.problems import Invalid, UnexpectedValue, Unparsable
from vivero.storage.state.normal_form import hash_of, normal_form

MAX_IN = 1000
"""Values of one $in or $notIn."""


def is_given(operator: str, operand: Any) -> bool:
    """Whether an operator has an operand. Clients send null or an empty list for operators that they do not use."""
    return operand is not None and not (operator in LISTS and operand == [])


def condition(field: Field, value: Any, path: str, parameters: Parameters) -> str:
    """The SQL of one entry of a filter; `true` without any operator."""
    return " AND ".join(conditions(field, value, path, parameters)) or "true"


def conditions(field: Field, value: Any, path: str, parameters: Parameters) -> list[str]:
    """The conditions of one entry of a filter: a plain value, or an object of operators that must all hold."""
    if field.operators is PLAIN or type(value) is not dict:
        if "$eq" not in field.operators:
            raise Unparsable(path)
        return [_operation(field, "$eq", value, path, parameters)]
    parts = []
    for operator, operand in value.items():
        if operator not in field.operators:
            raise Unparsable(f"{path}.{operator[:50]}")
        if is_given(operator, operand):
            parts.append(_operation(field, operator, operand, f"{path}.{operator}", parameters))
    return parts


def _operation(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    if operator == "$exists":
        return _exists(field, operand, path)
    if field.values:
        return _enum_operation(field, operator, operand, path, parameters)
    if operator in LISTS:
        return _list_operation(field, operator, operand, path, parameters)
    return _comparison(field, operator, operand, path, parameters)


def _exists(field: Field, operand: Any, path: str) -> str:
    if type(operand) is not bool:
        raise Unparsable(path)
    if field.given is not None:
        return field.given if operand else f"NOT ({field.given})"
    return f"{field.sql} IS NOT NULL" if operand else f"{field.sql} IS NULL"


def _list_operation(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    values = [_read(field, item, f"{path}[{i}]") for i, item in enumerate(_list(operand, path))]
    if field.normal_sql is not None:
        found = _has_value(field, values, parameters)
        return found if operator == "$in" else f"{found} IS NOT TRUE"
    among = f"= ANY ({_array(values, field.type.cast, parameters)})"
    return _is(field, among) if operator == "$in" else f"({field.sql} {among}) IS NOT TRUE"


def _comparison(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    if operator == "$like":
        return _like(field, _read_text(operand, path), parameters)
    value = _read(field, operand, path)
    if field.type is FLAG and operator == "$eq":
        return field.sql if value else f"NOT {field.sql}"
    if field.normal_sql is not None and operator in ("$eq", "$neq"):
        found = _has_value(field, [value], parameters)
        return found if operator == "$eq" else f"{found} IS NOT TRUE"
    place = parameters.add(value, field.type.cast)
    if operator == "$eq":
        return _is(field, f"= {place}")
    return f"{field.sql} {_SIGNS[operator]} {place}"


def _like(field: Field, pattern: str, parameters: Parameters) -> str:
    if field.type.cast != "text":
        return f"({field.sql})::text LIKE {parameters.add(like_pattern(pattern), 'text')}"
    like = f"{field.sql} LIKE {parameters.add(like_pattern(pattern), 'text')}"
    return f"{like} AND {found}" if parameters.limited and (found := _by_prefix(field, pattern, parameters)) else like


def _by_prefix(field: Field, pattern: str, parameters: Parameters) -> str | None:
    """The leakproof conditions that a pattern implies; LIKE is not leakproof."""
    tokens = list(pattern_tokens(pattern))
    literal = list(takewhile(lambda token: token not in (ANY_RUN, ANY_ONE), tokens))
    if not literal:
        return None
    operator = "=" if len(literal) == len(tokens) else "^@"
    return f"{field.sql} {operator} {parameters.add(''.join(map(str, literal)), 'text')}"


def _is(field: Field, among: str) -> str:
    """The comparison `= $1` or `= ANY ($1)` (`among`), and the condition that it implies."""
    implied = f" AND {field.implied(among)}" if field.implied is not None else ""
    return f"{field.sql} {among}{implied}"


_SIGNS = {"$neq": "IS DISTINCT FROM", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


def _has_value(field: Field, values: list[str], parameters: Parameters) -> str:
    """Whether a JSON value equals one of these, however it is spelled."""
    normal = list(map(normal_form, values))
    hashes = list(map(hash_of, normal))
    if len(values) > 1:
        place = parameters.add(normal, "text[]")
        return f"({field.sql} = ANY ({place}) OR {field.normal_sql} = ANY ({parameters.add(hashes, 'uuid[]')}))"
    place = parameters.add(normal[0], "text")
    # coalesce: the planner would take the two conditions for independent, and expect too few rows by far
    same = f"md5({field.sql}) = md5({place}) AND coalesce({field.sql} = {place}, false)"
    return f"({same} OR {field.normal_sql} = {parameters.add(hashes[0], 'uuid')})"


def _array(values: list[Any], cast: str, parameters: Parameters) -> str:
    if cast == "timestamptz":
        values = [value.isoformat() for value in values]
    return parameters.add(values, f"{cast}[]")


def _list(operand: Any, path: str) -> list[Any]:
    if type(operand) is not list:
        raise Unparsable(path)
    if len(operand) > MAX_IN:
        raise Invalid(f"The list of {path} has {len(operand)} values but must not have more than {MAX_IN}")
    return operand


def _read(field: Field, value: Any, path: str) -> Any:
    try:
        return field.type.read(value)
    except ValueError as error:
        raise Unparsable(path) from error


def _read_text(value: Any, path: str) -> str:
    if type(value) is not str:
        raise Unparsable(path)
    return value


def _enum_operation(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    if operator in LISTS:
        chosen = {_member(field, item) for item in _list(operand, path)}
    elif operator == "$like":
        tokens = list(pattern_tokens(_read(field, operand, path)))
        chosen = {value for value in field.values if matches(tokens, value)}
    else:
        chosen = {_member(field, operand)}
    among = _is_any_of(field, [value for value in field.values if value in chosen], parameters)
    return f"({among}) IS NOT TRUE" if operator in ("$neq", "$notIn") else among


def _member(field: Field, value: Any) -> str:
    """The canonical spelling of an enumeration's value: filters ignore case."""
    if type(value) is str:
        for member in field.values:
            if member.lower() == value.lower():
                return member
    raise UnexpectedValue(field.name, value, field.values)


def _is_any_of(field: Field, members: list[str], parameters: Parameters) -> str:
    cases = field.cases or {}
    parts = [cases[member] for member in members if member in cases]
    if others := [member for member in members if member not in cases]:
        parts.append(f"{field.sql} = ANY ({parameters.add(others, 'text[]')})")
    return "(" + " OR ".join(parts) + ")" if parts else "false"
