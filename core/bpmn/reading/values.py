"""Attribute values: flags, whole numbers, names, paths, and FEEL.

Every function reads one value and reports its problem. It never raises, so that one bad attribute hides no other.
"""

from __future__ import annotations

import re

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import Expression, FeelError, compile_attribute, constant

INT32_MAX = 2**31 - 1

_WHOLE = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_NAME = re.compile(r"[\w$]+")
_PATH = re.compile(r"[\w$]+(\.[\w$]+)*")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def flag(element: Element, name: str, report: Report, *, default: bool = False, owner: Element | None = None) -> bool:
    """An `xsd:boolean` attribute. `owner` is the element that a modeler knows by id, if that is another one."""
    text = element.get(name)
    if text is None:
        return default
    value = _FLAGS.get(text.strip())
    if value is None:
        report.add_problem(
            element if owner is None else owner, f"{name}={quote(text)} is neither true nor false", at=element
        )
        return default
    return value


def is_expression(text: str) -> bool:
    """Whether this attribute holds FEEL. Without `=`, or with nothing after it, it is a static value."""
    return len(text) > 1 and text.startswith("=")


def expression(text: str, what: str, owner: Element, report: Report, *, at: Element) -> Expression | None:
    """The compiled value of an attribute: FEEL after `=`, otherwise static. None if it does not parse (reported)."""
    if not report.takes_expression(len(text) if is_expression(text) else 0):
        return None
    try:
        return compile_attribute(text, report.limits.feel)
    except FeelError as error:
        feel = text.removeprefix("=")  # the position in the error counts from there
        report.add_problem(owner, f"{what}: {quote(feel)} is not valid FEEL: {error}", at=at)
        return None


def feel(text: str, what: str, owner: Element, report: Report, *, at: Element) -> Expression | None:
    """FEEL after `=`. A static value is reported."""
    if not is_expression(text):
        report.add_problem(owner, f"{what}: {quote(text)} is not an expression: '=' and FEEL behind it", at=at)
        return None
    return expression(text, what, owner, report, at=at)


def text_or_expression(text: str, what: str, owner: Element, report: Report, *, at: Element) -> Expression | None:
    """Like `expression`, but a static value is always text: a job type `007` is not a number."""
    value = expression(text, what, owner, report, at=at)
    if value is None or is_expression(text) or isinstance(value.static_value, str):
        return value
    return constant(text, text)


def whole_number(
    text: str, what: str, owner: Element, report: Report, *, at: Element, least: int, most: int = INT32_MAX
) -> Expression | None:
    """An expression, or a static whole number from `least` to `most`."""
    text = text.strip()
    if not is_expression(text) and not (_WHOLE.fullmatch(text) and least <= int(text) <= most):
        report.add_problem(owner, f"{what}: {quote(text)} is not a whole number from {least} to {most}", at=at)
        return None
    return expression(text, what, owner, report, at=at)


MAX_QUANTITY = 1_000
"""Tokens that an activity consumes together, or puts on one flow."""


def quantity(element: Element, name: str, report: Report) -> int:
    """The number of tokens in an attribute of an activity; 1 by default and for a wrong one (reported)."""
    text = element.get(name, "1").strip()
    if not (_WHOLE.fullmatch(text) and 1 <= int(text) <= MAX_QUANTITY):
        report.add_problem(element, f"{name}: {quote(text)} is not a whole number from 1 to {MAX_QUANTITY}")
        return 1
    return int(text)


def variable_name(text: str, what: str, owner: Element, report: Report, *, at: Element) -> str | None:
    """The name of a variable, without a path."""
    text = text.strip()
    if len(text) > report.limits.id_length or not _NAME.fullmatch(text):
        report.add_problem(owner, f"{what}: {quote(text)} is not a variable name", at=at)
        return None
    return text


def path(text: str, what: str, owner: Element, report: Report, *, at: Element) -> tuple[str, ...] | None:
    """The target of a mapping: a variable name, or names joined by dots for a place in the variable."""
    text = text.strip()
    if len(text) > report.limits.id_length or not _PATH.fullmatch(text):
        report.add_problem(owner, f"{what}: {quote(text)} is not a variable name or names joined by dots", at=at)
        return None
    return tuple(text.split("."))
