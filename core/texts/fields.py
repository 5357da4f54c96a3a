"""Values of fields: lists in settings, models and headers, and the pause that another system asks for."""

from __future__ import annotations

import re

MOST_RETRY_AFTER_S = 300.0
"""The longest pause of a call that the program repeats by itself."""

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def listed(text: str) -> list[str]:
    """The items of a text that is a list, separated by commas. Empty ones are left out."""
    return [item for item in map(str.strip, text.split(",")) if item]


def retry_after_s(text: str | None) -> float | None:
    """The seconds of a header `Retry-After` (RFC 9110, 10.2.3); some servers send fractions.

    None: there is no header, or it has a date, because the clocks may differ.
    """
    found = (text or "").strip()
    return float(found) if _SECONDS.fullmatch(found) else None
