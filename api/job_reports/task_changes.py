"""Changes of a user task as clients give them: in an update, and as the corrections of a task listener."""

from __future__ import annotations

import re

from vivero.api.http.decoding import Body, Int32, Violations
from vivero.core.bpmn.reading.text_limits import CANDIDATE_CHARACTERS, CANDIDATES, HIGHEST_TASK_PRIORITY, NAME_BYTES
from vivero.core.events.schedules import LATEST_MS
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_date_ms
from vivero.core.records.user_tasks import UserTaskChanges

_WITH_OFFSET = re.compile(r"[^T]+T[^Z+-]+(Z|[+-][0-9:]+)(\[.+\])?", re.ASCII)


class UserTaskChangeset(Body, frozen=True):
    """Changes to a user task. Null keeps an attribute; an empty date or list removes it."""

    due_date: str | None = None
    follow_up_date: str | None = None
    candidate_users: tuple[str, ...] | None = None
    candidate_groups: tuple[str, ...] | None = None
    priority: Int32 | None = None


def changes_of(given: UserTaskChangeset, found: Violations) -> UserTaskChanges:
    changes: UserTaskChanges = {}
    if given.due_date is not None:
        changes["due_at"] = _date("due date", given.due_date, found)
    if given.follow_up_date is not None:
        changes["follow_up_at"] = _date("follow-up date", given.follow_up_date, found)
    if given.candidate_users is not None:
        changes["candidate_users"] = _names("candidateUsers", given.candidate_users, found)
    if given.candidate_groups is not None:
        changes["candidate_groups"] = _names("candidateGroups", given.candidate_groups, found)
    if given.priority is not None:
        changes["priority"] = given.priority
        if not 0 <= given.priority <= HIGHEST_TASK_PRIORITY:
            found.add(
                f"The value for priority is '{given.priority}' but must be within the [0,{HIGHEST_TASK_PRIORITY}] range"
            )
    return changes


def _date(name: str, text: str, found: Violations) -> int | None:
    """Epoch milliseconds; None for an empty text. A date without an offset is a violation."""
    if not text:
        return None
    try:
        epoch_ms = parse_date_ms(text) if _WITH_OFFSET.fullmatch(text) else -1
    except TemporalError:
        epoch_ms = -1
    if not 0 <= epoch_ms <= LATEST_MS:
        found.add(f"The provided {name} '{text[:100]}' cannot be parsed as a date according to RFC 3339, section 5.6")
    return epoch_ms


def _names(name: str, names: tuple[str, ...], found: Violations) -> tuple[str, ...]:
    if len(names) > CANDIDATES:
        found.add(f"The provided {name} are {len(names)} but must not be more than {CANDIDATES}")
    if (characters := sum(map(len, names))) > CANDIDATE_CHARACTERS:
        found.add(
            f"The provided {name} have {characters} characters but must not have more than {CANDIDATE_CHARACTERS}"
        )
    for each in names:
        found.largest(f"name in {name}", each, NAME_BYTES)
    return names
