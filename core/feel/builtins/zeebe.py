"""Functions that Zeebe adds to FEEL: `cycle` for timer events, `fromAi` for the parameters of ad-hoc tools."""

from __future__ import annotations

from typing import Any

from vivero.core.feel.builtins.arguments import whole
from vivero.core.feel.temporal import DayTimeDuration, YearMonthDuration
from vivero.core.feel.values import IllegalArguments, Overload, Run


def cycle_forever(run: Run, interval: Any) -> Any:
    return cycle(run, None, interval)


def cycle(run: Run, repetitions: Any, interval: Any) -> Any:
    """`R3/PT1H`. If the repetitions are null, `R/PT1H`, which repeats without end."""
    if not isinstance(interval, DayTimeDuration | YearMonthDuration):
        raise IllegalArguments
    return f"R{'' if repetitions is None else whole(repetitions)}/{interval}"


def from_ai(run: Run, value: Any, *_: Any) -> Any:
    """The value. Tools read description, type, schema and options from the text of the expression."""
    return value


_FROM_AI = ("value", "description", "type", "schema", "options")

FUNCTIONS = {
    "cycle": (Overload(("interval",), cycle_forever), Overload(("repetitions", "interval"), cycle)),
    "fromAi": tuple(Overload(_FROM_AI[:arity], from_ai) for arity in range(1, len(_FROM_AI) + 1)),
}
