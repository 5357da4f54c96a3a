"""What workers decide when they complete jobs, and the elements of ad-hoc sub-processes that requests activate.

The `type` of a result says whose it is. Each type has a class here, and one among the records of the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vivero.api.http.decoding import Body, Violations, as_variables
from vivero.api.http.problems import invalid_argument
from vivero.api.services import Services
from vivero.core.records.ad_hoc import AdHocResult, ElementToActivate


class ElementBody(Body, frozen=True):
    element_id: str | None = None
    variables: dict[str, Any] | None = None


class AdHocResultBody(Body, frozen=True, tag="adHocSubProcess", tag_field="type"):
    activate_elements: list[ElementBody] | None = None
    is_completion_condition_fulfilled: bool | None = None
    is_cancel_remaining_instances: bool | None = None


ResultBody = AdHocResultBody


def result_of(body: ResultBody | None, services: Services) -> AdHocResult | None:
    """The result for the command. Raises Problem 400."""
    if body is None:
        return None
    return AdHocResult(
        elements_of(body.activate_elements or (), "result.activateElements", services),
        body.is_completion_condition_fulfilled or False,
        body.is_cancel_remaining_instances or False,
    )


def elements_of(given: Sequence[ElementBody], name: str, services: Services) -> tuple[ElementToActivate, ...]:
    """The elements for the command. Raises Problem 400: one has no id, or all have too many variables together."""
    found, most = Violations(), services.settings.max_variables
    for number, element in enumerate(given):
        found.require(f"{name}[{number}].elementId", element.element_id)
    found.check()
    count = sum(len(element.variables or ()) for element in given)
    if count > most:
        raise invalid_argument(f"The request has {count} variables but must not have more than {most}")
    return tuple(
        ElementToActivate(element.element_id or "", as_variables(element.variables, services.settings))
        for element in given
    )
