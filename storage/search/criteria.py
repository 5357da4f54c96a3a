"""Whether a filter selects by anything. A search without a criterion lists everything; a change must not mean it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.storage.search.conditions import is_given
from vivero.storage.search.fields import LISTS
from vivero.storage.search.problems import Invalid


def require_criteria(filter: Mapping[str, Any], everything: str) -> None:
    """Raise Invalid for a filter, or an alternative of one, without a criterion, and for a list without a value.

    For searches, an operator without an operand is no condition. A client that computes a list and finds it empty
    means no row, and must not get all. `everything`: the filter that means all rows.
    """
    if not _has_criterion(filter, "filter"):
        raise Invalid(f"No filter provided. To select everything, say so: {everything}")


def _has_criterion(filter: Mapping[str, Any], path: str) -> bool:
    found = False
    for name, value in filter.items():
        at = f"{path}.{name}"
        if name == "$or":
            for number, branch in enumerate(value or ()):
                if not _has_criterion(branch, f"{at}[{number}]"):
                    raise Invalid(f"{at}[{number}] has no criterion, so it would select everything")
        if type(value) is dict and not any(is_given(operator, operand) for operator, operand in value.items()):
            if any(value.get(operator) == [] for operator in LISTS):
                raise Invalid(f"The list of {at} is empty: it selects nothing")
            continue
        found = found or value not in (None, [])
    return found
