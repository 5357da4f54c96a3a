"""Start subscriptions of processes, for messages and signals. Names are evaluated at deployment, without variables."""

from __future__ import annotations

from typing import Any

from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.events.behaviour import InvalidStart, LatestVersion
from vivero.core.feel import DEFAULT_LIMITS, EvaluationError, Expression
from vivero.core.feel.builtins.temporals import NO_CLOCK
from vivero.core.feel.values import FUNCTION_INVOCATION_FAILURE
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects
from vivero.core.records.messages import StartDescribed, StartOpened
from vivero.core.view import View


def open_start(event: StartMetadata, latest: LatestVersion, view: View) -> Effects:
    where = latest.definition, view.tenant, latest.process_id, event.element
    opened = StartOpened(view.key(), *where, event.kind, event.name, event.together)
    yield opened
    if event.properties is not None:
        yield StartDescribed(opened.key, event.properties)


def static_name(expression: Expression, element: str) -> str:
    """The message or signal name of the start event `element`. Raises InvalidStart if it is not a valid name."""
    value = expression.static_value if expression.is_static else _evaluated(expression, element)
    if not isinstance(value, str) or not value:
        raise InvalidStart(
            f"element '{element}': the name must be a non-empty text. It is evaluated at the deployment, and cannot use"
            " variables, those of the cluster included"
        )
    if "\0" in value or len(value) > TEXT_CHARACTERS:
        raise InvalidStart(
            f"element '{element}': the name must be a text without NUL characters, of at most"
            f" {TEXT_CHARACTERS} characters"
        )
    return value


def _evaluated(expression: Expression, element: str) -> Any:
    """The value, which later evaluations must give, too: without a time, and not by chance. Raises InvalidStart.

    A function that fails on constants fails always, so that a name may depend on it.
    """
    try:
        first, second = expression.evaluate({}), expression.evaluate({})
    except EvaluationError as error:
        raise InvalidStart(f"element '{element}': the name cannot be evaluated: {error}") from error
    if len(first.warnings) >= DEFAULT_LIMITS.warnings:  # later ones are dropped, that of a missing clock included
        raise InvalidStart(f"element '{element}': the name cannot be evaluated: the evaluation has too many warnings")
    for warning in first.warnings:
        fails = warning.type == FUNCTION_INVOCATION_FAILURE
        if fails and (not isinstance(first.value, str) or warning.message.endswith(NO_CLOCK)):
            raise InvalidStart(f"element '{element}': the name cannot be evaluated: {warning.message}")
    if first.value != second.value:
        raise InvalidStart(f"element '{element}': each evaluation gives another name")
    return first.value
