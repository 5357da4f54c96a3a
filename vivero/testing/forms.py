"""The problems that a person would have with a form: what its fields do not accept of the variables of a completion.

The rules are those of the viewer in the console. A field that is hidden, disabled or read-only accepts everything.
Expressions of the form see the variables of the task, and the submitted ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from warnings import warn

from vivero.core import feel
from vivero.library import Models
from vivero.library.json_values import to_json

EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*")
PHONE = re.compile(r"(?:\+|00)[1-9]\d{6,}")
TEXTS = ("textfield", "textarea")
CHOICES = ("radio", "select")
MANY_CHOICES = ("checklist", "taglist")
FIELDS = frozenset((*TEXTS, *CHOICES, *MANY_CHOICES, "number", "checkbox", "datetime", "filepicker"))
"""The types of components that a person fills in."""
_TEXT, _LIST = (str, "a text there"), (list, "several choices there, a list")
PYTHON_TYPES: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys((*TEXTS, "datetime"), _TEXT),
    **dict.fromkeys(MANY_CHOICES, _LIST),
    "checkbox": (bool, "a checkbox there, which gives true or false"),
}
"""Type of a component → the type of its values, with its description. A number and a choice have rules of their own."""

Values = Mapping[str, Any]


def check_start_form(models: Models, process_id: str | None, variables: Values) -> None:
    """Raises AssertionError if the form for the start of a process does not accept the variables."""
    __tracebackhide__ = True
    schema = None if process_id is None else models.start_form(process_id)
    if schema is not None and (problems := form_problems(schema, variables)):
        raise AssertionError(f"The form for the start of '{process_id}' does not accept this: {'; '.join(problems)}.")


def form_problems(schema: Values, variables: Values) -> list[str]:
    """A sentence for each field of a form that does not accept its value. `variables`: JSON values."""
    context = {name: feel.from_json(to_json(name, value)) for name, value in variables.items()}
    return list(_problems_of(schema["components"], variables, context, ""))


def _problems_of(components: list[dict[str, Any]], data: Values, context: Values, path: str) -> Iterator[str]:
    """`path`: a prefix of the names of fields, for those inside of a list."""
    for component in components:
        if _evaluated((component.get("conditional") or {}).get("hide"), context) is True:
            continue
        if component["type"] in FIELDS:
            if not any(_evaluated(component.get(flag), context) is True for flag in ("disabled", "readonly")):
                value = _at(data, component.get("key", ""))
                text = _problem_of(component, value, context)
                if text is not None:
                    yield f"{path}{component.get('key', '')}: {text}"
            continue
        inner, inside = component.get("components", []), component.get("path", "")
        if component["type"] == "dynamiclist":
            items = _at(data, inside)
            for place, item in enumerate(items if isinstance(items, list) else (), start=1):
                if isinstance(item, dict):
                    seen = {**context, **feel.from_json(to_json(inside, item))}
                    yield from _problems_of(inner, item, seen, f"{path}{inside}[{place}].")
        elif inside:
            of_group = _at(data, inside)
            yield from _problems_of(inner, of_group if isinstance(of_group, dict) else {}, context, f"{path}{inside}.")
        else:
            yield from _problems_of(inner, data, context, path)


def _problem_of(field: Values, value: Any, context: Values) -> str | None:
    """The first reason why the field does not accept the value."""
    rules = {name: _evaluated(rule, context) for name, rule in (field.get("validate") or {}).items()}
    if value is None or value in ("", []) or (field["type"] == "checkbox" and value is False):
        return "the form requires it" if rules.get("required") is True else None
    return _wrong_type(field, value, context) or _broken_rule(field, rules, value)


def _wrong_type(field: Values, value: Any, context: Values) -> str | None:
    type_ = field["type"]
    if type_ == "number":
        return None if _number(value, field) is not None else f"the form has a number there, not {value!r}"
    if type_ in PYTHON_TYPES and not isinstance(value, PYTHON_TYPES[type_][0]):
        return f"the form has {PYTHON_TYPES[type_][1]}, not {value!r}"
    if type_ not in (*CHOICES, *MANY_CHOICES):
        return None
    options = _options(field, context)
    if options is not None:
        for one in value if type_ in MANY_CHOICES else (value,):
            if one not in options:
                return f"{one!r} is none of the choices of the form: {', '.join(map(repr, options))}"
    return None


def _broken_rule(field: Values, rules: Values, value: Any) -> str | None:
    if field["type"] == "number":
        return _broken_number_rule(field, rules, _number(value, field) or Decimal(0))
    if not isinstance(value, str):
        return None
    length = len(value.strip())
    if _exceeds(rules.get("minLength"), length):
        return f"the form requires {rules['minLength']} characters at least, not {length}"
    if _exceeds(length, rules.get("maxLength")):
        return f"the form allows {rules['maxLength']} characters, not {length}"
    pattern = rules.get("pattern")
    if isinstance(pattern, str) and pattern and not _matches(pattern, value):
        return f"{value!r} does not match the pattern {pattern} of the form"
    if rules.get("validationType") == "email" and not EMAIL.fullmatch(value):
        return f"the form requires an e-mail address, not {value!r}"
    if rules.get("validationType") == "phone" and not PHONE.fullmatch(value):
        return f"the form requires an international phone number, not {value!r}"
    return None


def _broken_number_rule(field: Values, rules: Values, value: Decimal) -> str | None:
    digits, increment = field.get("decimalDigits"), field.get("increment")
    exponent = value.normalize().as_tuple().exponent
    if isinstance(digits, int) and isinstance(exponent, int) and -exponent > digits:
        return f"the form allows {digits} decimal digits, not {value}"
    if not _is_multiple(value, increment):
        return f"the form allows multiples of {increment}, not {value}"
    if _exceeds(rules.get("min"), value):
        return f"the form requires {rules['min']} at least, not {value}"
    if _exceeds(value, rules.get("max")):
        return f"the form allows {rules['max']} at most, not {value}"
    return None


def _matches(pattern: str, value: str) -> bool:
    """Whether a text matches. A pattern that only browsers know, such as one with `\\p{L}`, gives a warning."""
    try:
        return re.search(pattern, value) is not None
    except re.error as error:
        warn(f"the pattern {pattern} of a form is not checked: {error}", stacklevel=1)
        return True


def _is_multiple(value: Decimal, increment: Any) -> bool:
    """Whether a number has this step. One that is no number constrains nothing, as with `_exceeds`."""
    try:
        return not increment or not value % Decimal(str(increment))
    except ArithmeticError:
        return True


def _exceeds(more: Any, less: Any) -> bool:
    """Whether one number is greater than another. A constraint that gives no number constrains nothing."""
    if any(isinstance(one, bool) or not isinstance(one, int | float | Decimal) for one in (more, less)):
        return False
    return Decimal(str(more)) > Decimal(str(less))


def _number(value: Any, field: Values) -> Decimal | None:
    """The number, which `serializeToString` gives as a text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and field.get("serializeToString") is not True:
        return None
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def _options(field: Values, context: Values) -> list[Any] | None:
    """The values of all choices; None if they cannot be known."""
    choices = field.get("values")
    if not isinstance(choices, list):
        by_key = "valuesKey" in field
        choices = _at(context, field["valuesKey"]) if by_key else _evaluated(field.get("valuesExpression"), context)
    if not isinstance(choices, list):
        return None
    return [one.get("value") if isinstance(one, Mapping) else one for one in choices]


def _at(data: Values, key: Any) -> Any:
    """The value of a key, whose dots lead down; null for a key that is no text."""
    if not isinstance(key, str):
        return None
    found: Any = data
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _evaluated(rule: Any, context: Values) -> Any:
    """The value of a property, which is an expression if it begins with `=`; null if it cannot be evaluated."""
    if not isinstance(rule, str) or not rule.startswith("="):
        return rule
    try:
        return feel.compile_expression(rule[1:]).evaluate(context).value
    except feel.FeelError:
        return None
