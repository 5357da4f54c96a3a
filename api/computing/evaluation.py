"""The evaluation of an expression for a client. A compute process imports this module, and little else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vivero.core.expressions.camunda_context import CAMUNDA, ExpressionContext, context, variables_seen
from vivero.core.feel import FeelError, FeelLimits, ParseError, compile_attribute, from_json, to_json
from vivero.core.feel.values import FUNCTION_INVOCATION_FAILURE

SMALL_BYTES = 16 * 1024
"""Variables up to this size are decoded at once."""
SMALL_TEXT = 500
"""Characters of an expression that is compiled at once."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """`result` is JSON. With an `error` there is no result."""

    result: bytes = b""
    warnings: tuple[str, ...] = ()
    error: str | None = None
    is_limited: bool = False
    """Whether larger limits could give another result."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An expression to evaluate. `seen`: the variables of a scope, a JSON object; `given`: those of the request."""

    expression: str
    seen: bytes
    given: Mapping[str, bytes]
    now_ms: int
    limits: FeelLimits
    context: ExpressionContext | None = None
    """For the name `camunda`. None: the expression does not read it."""

    @property
    def is_small(self) -> bool:
        """Whether its decoding and its compilation take little time."""
        size = len(self.seen) + sum(map(len, self.given.values()))
        if self.context is not None:
            size += len(self.context.of_cluster) + len(self.context.of_tenant)
        return size <= SMALL_BYTES and len(self.expression) <= SMALL_TEXT

    def with_small_limits(self) -> Evaluation:
        """The same within one or two milliseconds. If that is not enough, the result may be limited."""
        limits = self.limits
        small = replace(
            limits,
            steps=min(limits.steps, 2_000),
            list_size=min(limits.list_size, 1_000),
            range_size=min(limits.range_size, 1_000),
            string_size=min(limits.string_size, 10_000),
            output_size=min(limits.output_size, 50_000),
            regex_timeout_ms=1,
        )
        return replace(self, limits=small)


def evaluate(evaluation: Evaluation) -> Evaluated:
    """Compile and evaluate."""
    now_ms, limits = evaluation.now_ms, evaluation.limits
    try:
        variables = _outermost(evaluation.context) | from_json(evaluation.seen)
        variables |= {name: from_json(value) for name, value in evaluation.given.items()}
        value, warnings = compile_attribute(evaluation.expression, limits).evaluate(variables, now_ms)
        result = to_json(value).encode()
    except FeelError as error:
        return Evaluated(error=str(error), is_limited=not isinstance(error, ParseError))
    is_limited = any(
        warning.type == FUNCTION_INVOCATION_FAILURE for warning in warnings
    )  # a limit of a function may be why
    return Evaluated(result, tuple(warning.message for warning in warnings), None, is_limited)


def _outermost(found: ExpressionContext | None) -> dict[str, Any]:
    """The context, which all variables of the same name hide."""
    if found is None:
        return {}
    variables = variables_seen(from_json(found.of_cluster), from_json(found.of_tenant))
    return {CAMUNDA: context(variables, found.key, found.business_id)}
