"""ISO 8601 durations of settings, schedules and retries. Expressions of models have FEEL's own durations."""

from __future__ import annotations

import isodate


def seconds(text: str) -> float:
    """The seconds of a duration such as `PT30S` or `P1D`.

    Raises:
        ValueError: it is not a duration, it has years or months, whose length varies, or it is negative.
    """
    try:
        parsed = isodate.parse_duration(text)
    except (isodate.ISO8601Error, ValueError, TypeError, ArithmeticError) as error:
        raise ValueError(f"'{text}' is not an ISO 8601 duration such as PT30S or P1D") from error
    if isinstance(parsed, isodate.Duration):
        raise ValueError(f"the duration '{text}' has years or months, whose length varies; use days")
    if parsed.total_seconds() < 0:
        raise ValueError(f"the duration '{text}' is negative")
    return float(parsed.total_seconds())
