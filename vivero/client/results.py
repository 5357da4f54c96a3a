"""The results with which workers complete jobs that decide: those of task listeners and of ad-hoc sub-processes.

    return Denial("not before noon")
    return Corrections(assignee="ada", priority=80)
    return AdHocDecision({"search": {"query": "lemon tree"}})

docs/task-listeners.md and docs/elements/ad_hoc_sub_process.md say what the results do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

MAX_PRIORITY = 100


class JobCompletion(NamedTuple):
    """The completion of a job: variables for the process, and the `result` as the API has it."""

    variables: Mapping[str, Any] = {}
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Denial:
    """A task listener denies the change of its user task, which stays as it was."""

    reason: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str):
            raise TypeError(f"the reason of a denial must be a text, not {self.reason!r}")

    def completion(self) -> JobCompletion:
        return JobCompletion({}, {"type": "userTask", "denied": True, "deniedReason": self.reason})


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """A task listener corrects what its user task will be. None keeps an attribute; an empty text or list removes it.

    Dates have a time zone, as `datetime` or as text of ISO 8601. `priority` is from 0 to 100.
    """

    assignee: str | None = None
    due_date: datetime | str | None = None
    follow_up_date: datetime | str | None = None
    candidate_users: Collection[str] | None = None
    candidate_groups: Collection[str] | None = None
    priority: int | None = None

    def __post_init__(self) -> None:
        if self.assignee is not None and not isinstance(self.assignee, str):
            raise TypeError(f"assignee must be a text, not {self.assignee!r}")
        for name, names in (("candidate_users", self.candidate_users), ("candidate_groups", self.candidate_groups)):
            if isinstance(names, str):
                raise TypeError(f"{name} must be a list of names, not the text {names!r}")
        if self.priority is not None and (isinstance(self.priority, bool) or not isinstance(self.priority, int)):
            raise TypeError(f"priority must be a whole number, not {self.priority!r}")
        if self.priority is not None and not 0 <= self.priority <= MAX_PRIORITY:
            raise ValueError(f"priority must be from 0 to {MAX_PRIORITY}, not {self.priority}")

    def completion(self) -> JobCompletion:
        values = {
            "assignee": self.assignee,
            "dueDate": _date(self.due_date, "due_date"),
            "followUpDate": _date(self.follow_up_date, "follow_up_date"),
            "candidateUsers": None if self.candidate_users is None else list(self.candidate_users),
            "candidateGroups": None if self.candidate_groups is None else list(self.candidate_groups),
            "priority": self.priority,
        }
        corrections = {name: value for name, value in values.items() if value is not None}
        return JobCompletion({}, {"type": "userTask", "corrections": corrections})


def _date(date: datetime | str | None, name: str) -> str | None:
    if not isinstance(date, datetime):
        return date
    if date.tzinfo is None:
        raise ValueError(f"{name} {date} has no time zone: write datetime.now(UTC), not datetime.now()")
    return date.isoformat()


@dataclass(frozen=True, slots=True)
class AdHocDecision:
    """The next step of an ad-hoc sub-process: elements by their ids, with the variables of each if it needs some.

    `variables` go to the process. `fulfilled`: nothing more comes. `cancel_remaining`: what still runs ends first.
    """

    elements: Mapping[str, Mapping[str, Any]] | Collection[str] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    fulfilled: bool = False
    cancel_remaining: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.elements, str):
            raise TypeError(f"elements must be a list of ids, not the text {self.elements!r}")
        if self.fulfilled and self.elements:
            raise ValueError("an ad-hoc sub-process that is fulfilled activates no elements: give one of both")

    def completion(self) -> JobCompletion:
        given = self.elements if isinstance(self.elements, Mapping) else {key: {} for key in self.elements}
        result = {
            "type": "adHocSubProcess",
            "activateElements": [{"elementId": id, "variables": dict(values)} for id, values in given.items()],
            "isCompletionConditionFulfilled": self.fulfilled,
            "isCancelRemainingInstances": self.cancel_remaining,
        }
        return JobCompletion(self.variables, result)


JobDecision = Denial | Corrections | AdHocDecision
"""The results that the handler of a worker may return instead of variables."""
