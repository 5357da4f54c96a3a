"""The expressions of inbound connectors over what other systems send, which decides how long they take.

The event loop evaluates those that are quick; a compute process does the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import TooCostly
from vivero.engine.compute.turns import WorkKind
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.work.results import FULL, QUICK, Effort, TooMuchEffort, encoded

T = TypeVar("T")

TOO_COSTLY = "TOO_COSTLY"


@dataclass(frozen=True, slots=True)
class EventValues:
    """The values that an element makes of an event. None: it does not have the property."""

    variables: dict[str, msgspec.Raw]
    message_id: str | None
    correlation_key: str | None


async def evaluated(compute: ComputePool | None, work: Callable[..., T], *arguments: Any) -> T:
    """The result of `work(*arguments, effort)`: here if it is quick, else in a compute process, if there are any.

    Function, arguments and result must be picklable. Raises ConnectorError, NotComputed.
    """
    try:
        return work(*arguments, QUICK)
    except TooMuchEffort:
        if compute is None:
            return work(*arguments, FULL)
    try:
        result: T | ConnectorError = await compute.call(WorkKind.EXPRESSIONS, _result, work, arguments)
    except TooCostly as error:
        raise ConnectorError(TOO_COSTLY, f"the expressions of the element take {error}") from error
    except RecursionError as error:
        raise ConnectorError(
            TOO_COSTLY, "the values are nested too deeply for the expressions of the element"
        ) from error
    if isinstance(result, ConnectorError):
        raise result
    return result


def _result(work: Callable[..., T], arguments: tuple[Any, ...]) -> T | ConnectorError:
    try:
        return work(*arguments, FULL)
    except ConnectorError as error:
        return error


def accepts(element: InboundElement, values: Mapping[str, Any], effort: Effort) -> bool:
    """Whether an event meets the activation condition. Raises ConnectorError, TooMuchEffort."""
    condition = element.get("activationCondition")
    return not condition or element.evaluate("activationCondition", values, effort) is True


def values_of(
    element: InboundElement, event: Mapping[str, Any], values: Mapping[str, Any], effort: Effort
) -> EventValues:
    """The values that an element makes of an event. Raises ConnectorError, TooMuchEffort.

    `event`: the value of the result variable; `values`: what expressions see.
    """
    variables: dict[str, Any] = {}
    if name := element.get("resultVariable"):
        variables[name] = dict(event)
    mapped = element.evaluate("resultExpression", values, effort)
    if mapped is not None and not isinstance(mapped, dict):
        raise ConnectorError(element.code, "the property resultExpression must give a context")
    return EventValues(
        encoded(variables | (mapped or {}), effort),
        _text(element, "messageIdExpression", values, effort),
        None if element.message is None else _text(element, "correlationKeyExpression", values, effort),
    )


def _text(element: InboundElement, name: str, values: Mapping[str, Any], effort: Effort) -> str | None:
    """The text that a property gives; None if the element does not have the property."""
    if not element.get(name):
        return None
    value = element.evaluate(name, values, effort)
    text = "" if value is None else text_of(value)
    if not 0 < len(text) <= TEXT_CHARACTERS or "\0" in text:
        raise ConnectorError(element.code, f"the property {name} must give a text of 1 to {TEXT_CHARACTERS} characters")
    return text
