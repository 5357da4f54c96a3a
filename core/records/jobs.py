"""Jobs: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended
from vivero.core.records.user_tasks import UserTaskChanges


class UserTaskResult(
    msgspec.Struct, frozen=True, omit_defaults=True, tag="userTask", tag_field="type", rename="camel", gc=False
):
    """The result of a task listener: it denies the transition of its user task, or corrects what will change."""

    denied: bool = False
    denied_reason: str = ""
    corrections: UserTaskChanges = {}


JobResult = AdHocResult | UserTaskResult
"""The results with which a job can be completed, told apart by `type`."""


class CompleteJob(Command, frozen=True):
    intent: ClassVar[str] = "JOB:COMPLETE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True
    reports_job = True
    has_waiter = True

    key: int
    variables: Variables = {}
    lease: str | None = None
    result: JobResult | None = None
    """The decision of the worker, if the element lets it decide."""
    business_id: str | None = None
    """A business id for its process instance, which has none yet."""


class FailJob(Command, frozen=True):
    intent: ClassVar[str] = "JOB:FAIL"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True
    reports_job = True
    has_waiter = True

    key: int
    retries: int = 0
    backoff_ms: int = 0
    message: str | None = None
    variables: Variables = {}
    lease: str | None = None


class ThrowJobError(Command, frozen=True):
    intent: ClassVar[str] = "JOB:THROW_ERROR"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True
    reports_job = True
    has_waiter = True

    key: int
    code: str
    message: str | None = None
    variables: Variables = {}
    lease: str | None = None


class UpdateJob(Command, frozen=True):
    """New retries or priority, or a lease that ends in `timeout_ms`: all of them, or nothing.

    A client that changes the timeout of one job does it by a statement on the lease instead (docs/design/log.md §7).
    """

    intent: ClassVar[str] = "JOB:UPDATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    retries: int | None = None
    priority: int | None = None
    timeout_ms: int | None = None


class WithholdJob(Command, frozen=True):
    """The job is too large to activate. `lease`: the token of its last lease, which had expired.

    `size`: its size in bytes, None if it sees too many variables. `most`: the limit in bytes, or in variables."""

    intent: ClassVar[str] = "JOB:WITHHOLD"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE

    key: int
    lease: str | None
    size: int | None
    most: int


class JobCreated(Event, frozen=True):
    key: int
    element: int
    type: str
    retries: int
    priority: int
    headers: dict[str, str]
    kind: str = "BPMN_ELEMENT"
    listener_event: str = "UNSPECIFIED"
    listener_index: int = 0


class JobCompleted(Event, frozen=True):
    key: int


class JobDenied(Event, frozen=True):
    """The job of a task listener is completed, and denied the transition of its user task. `reason` may be empty."""

    key: int
    reason: str


class JobFailed(Event, frozen=True):
    """`available_at` (epoch ms): the time from which the job can be activated again; None: at once."""

    key: int
    retries: int
    available_at: int | None
    message: str | None


class JobErrorThrown(Event, frozen=True):
    """`caught`: an event caught the error and the job ended. Otherwise the job has an incident."""

    key: int
    code: str
    message: str | None
    caught: bool = False


class JobUpdated(Event, frozen=True):
    """`leased_until` (epoch ms): the new end of the lease that the job has."""

    key: int
    retries: int | None
    priority: int | None
    leased_until: int | None = None


class JobWithheld(Event, frozen=True):
    """The job is too large for its worker. It cannot be activated until its incident is resolved."""

    key: int


class JobReleased(Event, frozen=True):
    """The incident of the job was resolved. The job can be activated again."""

    key: int


class JobCanceled(Event, frozen=True):
    key: int
