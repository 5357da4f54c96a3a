"""The results of jobs, as workers give them, and the elements of ad-hoc sub-processes that requests activate.

The `type` of a result says whose it is. A result without one is of a task listener, as clients of Camunda 8.7 send it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from vivero.api.http.decoding import Body, Violations, as_variables, convert
from vivero.api.http.problems import invalid_argument, unparsable
from vivero.api.job_reports.task_changes import UserTaskChangeset, changes_of
from vivero.api.settings import ApiSettings
from vivero.core.bpmn.reading.text_limits import NAME_BYTES
from vivero.core.records.ad_hoc import AdHocResult, ElementToActivate
from vivero.core.records.jobs import JobResult, UserTaskResult

MAX_REASON = 10_000
"""In characters, for the reason of a denial."""


class ElementBody(Body, frozen=True):
    element_id: str | None = None
    variables: dict[str, Any] | None = None


class Corrections(UserTaskChangeset, frozen=True):
    """The corrections of a task listener. Null keeps an attribute; an empty text or list removes it."""

    assignee: str | None = None


class ResultBody(Body, frozen=True):
    """The result of a task listener or of an ad-hoc sub-process. Each has members of its own."""

    type: Literal["adHocSubProcess", "userTask"] | None = None
    denied: bool | None = None
    denied_reason: str | None = None
    corrections: dict[str, Any] | None = None
    activate_elements: list[ElementBody] | None = None
    is_completion_condition_fulfilled: bool | None = None
    is_cancel_remaining_instances: bool | None = None


_OF_USER_TASK = {"denied": "denied", "denied_reason": "deniedReason", "corrections": "corrections"}
_OF_AD_HOC = {
    "activate_elements": "activateElements",
    "is_completion_condition_fulfilled": "isCompletionConditionFulfilled",
    "is_cancel_remaining_instances": "isCancelRemainingInstances",
}


def result_of(body: ResultBody | None, settings: ApiSettings) -> JobResult | None:
    """The result for the command; None for one that says nothing. Raises Problem 400."""
    if body is None:
        return None
    if body.type == "adHocSubProcess":
        _check_absent(body, _OF_USER_TASK)
        return _of_ad_hoc(body, settings)
    if body.type is None and _given(body, _OF_AD_HOC):
        raise invalid_argument("No result.type provided")
    _check_absent(body, _OF_AD_HOC)
    return _of_user_task(body)


def _check_absent(body: ResultBody, members: Mapping[str, str]) -> None:
    """Raise Problem 400 for a member of the other type."""
    if given := _given(body, members):
        raise unparsable(f"result.{given[0]}")


def _given(body: ResultBody, members: Mapping[str, str]) -> list[str]:
    return [name for attribute, name in members.items() if getattr(body, attribute) is not None]


def _of_ad_hoc(body: ResultBody, settings: ApiSettings) -> AdHocResult:
    return AdHocResult(
        elements_of(body.activate_elements or (), "result.activateElements", settings),
        body.is_completion_condition_fulfilled or False,
        body.is_cancel_remaining_instances or False,
    )


def _of_user_task(body: ResultBody) -> UserTaskResult | None:
    """None without a denial and corrections, as some clients complete every job."""
    corrections = convert(_known(body.corrections or {}), Corrections)
    found = Violations()
    found.longest("deniedReason", body.denied_reason, MAX_REASON)
    found.largest("assignee", corrections.assignee, NAME_BYTES)
    changes = changes_of(corrections, found)
    found.check()
    if corrections.assignee is not None:
        changes["assignee"] = corrections.assignee or None
    if not body.denied and not changes:
        return None
    return UserTaskResult(bool(body.denied), (body.denied_reason or "") if body.denied else "", changes)


def _known(corrections: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises Problem 400 for a property that cannot be corrected."""
    unknown = [name for name in corrections if name not in _CORRECTABLE]
    if unknown:
        raise invalid_argument(
            f"Expected to complete task listener job with corrections, but property '{unknown[0][:100]}' cannot be "
            f"corrected. Only the following properties can be corrected: [{', '.join(_CORRECTABLE)}]"
        )
    return corrections


_CORRECTABLE = sorted(Corrections.__struct_encode_fields__)


def elements_of(given: Sequence[ElementBody], name: str, settings: ApiSettings) -> tuple[ElementToActivate, ...]:
    """The elements for the command. Raises Problem 400: one has no id, or all have too many variables together."""
    found, most = Violations(), settings.max_variables
    for number, element in enumerate(given):
        found.require(f"{name}[{number}].elementId", element.element_id)
    found.check()
    count = sum(len(element.variables or ()) for element in given)
    if count > most:
        raise invalid_argument(f"The request has {count} variables but must not have more than {most}")
    return tuple(
        ElementToActivate(element.element_id or "", as_variables(element.variables, settings)) for element in given
    )
