"""A snapshot as Python objects: the state of the instance, and everything that it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from vivero.core.snapshots import format as entries
from vivero.core.snapshots import references
from vivero.core.snapshots.codec import decode
from vivero.core.snapshots.format import Snapshot, key_of
from vivero.library.times import from_ms, optional

_decoder = msgspec.json.Decoder(float_hook=float)


def value_of(text: str | bytes | msgspec.Raw) -> Any:
    """The Python value of a variable. A number that is too large for a double, such as `1E+400`, is infinite, as in
    `json` of the standard library."""
    return _decoder.decode(text)


@dataclass(frozen=True, slots=True)
class Element:
    """A live element instance. `scope_key` is the key of the scope around it; `loop_index` is -1 outside of loops."""

    key: int
    id: str
    type: str
    state: str
    scope_key: int | None
    loop_index: int
    variables: Mapping[str, Any]
    """Its own variables, without those of the scopes around it."""


@dataclass(frozen=True, slots=True)
class Job:
    """An open job. `available`: a worker may do it now.

    Otherwise it has an incident, its process instance is suspended, or it waits for `retry_at`.
    """

    key: int
    type: str
    element: str
    kind: str
    retries: int
    headers: Mapping[str, str]
    variables: Mapping[str, Any]
    """All variables that its element sees."""
    available: bool
    retry_at: datetime | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class UserTask:
    """An open user task. `state`: CREATED, or the name of the change that waits for task listeners."""

    key: int
    element: str
    state: str
    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: datetime | None
    follow_up_at: datetime | None
    priority: int
    form_key: int | None
    """The key of its form (`Models.form`)."""
    variables: Mapping[str, Any]
    """All variables that its element sees."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A pending timer. `element` is the event that it triggers."""

    key: int
    element: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """An event that the instance waits for at `element`. `kind`: MESSAGE, SIGNAL or CONDITION."""

    key: int
    element: str
    kind: str
    name: str
    correlation_key: str | None


@dataclass(frozen=True, slots=True)
class Incident:
    key: int
    element: str
    type: str
    message: str
    job_key: int | None


@dataclass(frozen=True, slots=True)
class Instance:
    """A process instance with everything that it calls. `state`: ACTIVE, COMPLETED or TERMINATED.

    An ACTIVE instance with `suspended_at` is suspended.
    """

    key: int
    process_id: str
    business_id: str | None
    state: str
    version: int
    """The number of changes."""
    at: datetime
    """The time of the last change."""
    variables: Mapping[str, Any]
    """The variables of the process instance itself."""
    elements: tuple[Element, ...]
    jobs: tuple[Job, ...]
    user_tasks: tuple[UserTask, ...]
    timers: tuple[Timer, ...]
    waits: tuple[Wait, ...]
    incidents: tuple[Incident, ...]
    suspended_at: datetime | None = None
    suspended_reason: str | None = None

    @property
    def ended(self) -> bool:
        return self.state != "ACTIVE"

    @property
    def available_jobs(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.available)

    @property
    def next_due(self) -> datetime | None:
        """The time of the next timer, or of the next job's next try: call `advance` then. None: no time is set."""
        times = [timer.due_at for timer in self.timers]
        times += [job.retry_at for job in self.jobs if job.retry_at is not None and not job.available]
        return min(times, default=None)


def read(snapshot: str | bytes) -> Instance:
    """The overview of a snapshot. It needs no models.

    Raises:
        InvalidSnapshot: the document is damaged.
    """
    decoded = decode(snapshot)
    references.check(decoded)
    return overview(decoded)


def overview(snapshot: Snapshot) -> Instance:
    """The overview of a decoded snapshot."""
    return _Reader(snapshot).instance()


class _Reader:
    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.elements = {entry.key: entry for entry in snapshot.elements}
        self.variables: dict[str, dict[str, Any]] = {}
        for entry in snapshot.variables:
            self.variables.setdefault(entry.scope_key, {})[entry.name] = value_of(entry.value)

    def instance(self) -> Instance:
        snapshot, root = self.snapshot, self.snapshot.elements[0]
        live = () if snapshot.state != "ACTIVE" else snapshot.elements
        return Instance(
            key=int(root.key),
            process_id=root.element_id,
            business_id=None if root.process is None else root.process.business_id,
            state=snapshot.state,
            version=snapshot.version,
            at=from_ms(snapshot.at),
            variables=self.variables.get(root.key, {}),
            elements=tuple(map(self._element, live)),
            jobs=tuple(map(self._job, snapshot.jobs)),
            user_tasks=tuple(map(self._user_task, snapshot.user_tasks)),
            timers=tuple(
                Timer(int(entry.key), entry.element_id, from_ms(entry.due_at))
                for entry in snapshot.timers
                if entry.state == "PENDING"
            ),
            waits=tuple(map(self._wait, snapshot.subscriptions)),
            incidents=tuple(map(self._incident, snapshot.incidents)),
            suspended_at=None if root.process is None else optional(root.process.suspended_at),
            suspended_reason=None if root.process is None else root.process.suspended_reason,
        )

    def _element(self, entry: entries.ElementEntry) -> Element:
        return Element(
            int(entry.key),
            entry.element_id,
            entry.type,
            entry.state,
            key_of(entry.scope_key),
            entry.loop_index,
            self.variables.get(entry.key, {}),
        )

    def _job(self, entry: entries.JobEntry) -> Job:
        element = self.elements[entry.element_key]
        stopped = {incident.job_key for incident in self.snapshot.incidents}
        waits = entry.available_at is not None and entry.available_at > self.snapshot.at
        return Job(
            int(entry.key),
            entry.type,
            element.element_id,
            entry.kind,
            entry.retries,
            entry.headers,
            self._visible(element),
            entry.key not in stopped and not waits and not self._is_suspended(element),
            optional(entry.available_at),
            entry.error_message,
        )

    def _user_task(self, entry: entries.UserTaskEntry) -> UserTask:
        element = self.elements[entry.element_key]
        return UserTask(
            int(entry.key),
            element.element_id,
            "CREATED" if entry.transition is None else entry.transition.event,
            entry.assignee,
            entry.candidate_groups,
            entry.candidate_users,
            optional(entry.due_at),
            optional(entry.follow_up_at),
            entry.priority,
            key_of(entry.form_key),
            self._visible(element),
        )

    def _wait(self, entry: entries.SubscriptionEntry) -> Wait:
        return Wait(int(entry.key), entry.element_id, entry.kind, entry.name, entry.correlation_key)

    def _incident(self, entry: entries.IncidentEntry) -> Incident:
        element = self.elements[entry.element_key]
        return Incident(int(entry.key), element.element_id, entry.type, entry.message, key_of(entry.job_key))

    def _is_suspended(self, element: entries.ElementEntry) -> bool:
        """Whether the process instance of the element is suspended."""
        while element.process is None and element.scope_key is not None:
            element = self.elements[element.scope_key]
        return element.process is not None and element.process.suspended_at is not None

    def _visible(self, element: entries.ElementEntry) -> dict[str, Any]:
        """The variables that an element sees. Inner ones hide outer ones; a called process sees none of its caller."""
        seen: dict[str, Any] = {}
        scope: entries.ElementEntry | None = element
        while scope is not None:
            seen = self.variables.get(scope.key, {}) | seen
            inner = scope.process is None and scope.scope_key is not None
            scope = self.elements[scope.scope_key] if inner and scope.scope_key is not None else None
        return seen
