"""The records of the audit log: entity and operation of each route that changes something, and the callers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from vivero.api.callers.caller import Caller
from vivero.storage.access.audit_log import ADMIN, DEPLOYED_RESOURCES, USER_TASKS

CHANGES = ("people", "all", "none")


class Weight(Enum):
    """The changes of a kind that are recorded."""

    ALWAYS = "administration, and interventions into running processes: whoever makes them"
    BY_PEOPLE = "the work of people and of clients: `audit.changes` decides"
    JOBS = "the reports of job workers: only with `audit.changes` all, because there may be thousands a second"


@dataclass(frozen=True, slots=True)
class Audited:
    """The audit log's form of the change that a route makes. `related` is the type of the member of a role or group."""

    entity: str
    operation: str
    weight: Weight = Weight.ALWAYS
    category: str = DEPLOYED_RESOURCES
    related: str | None = None


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The changes that the audit log records beside administration and interventions."""

    changes: str = "people"
    """Changes that are recorded beside administration and interventions: `people`: those of users; `all`: of clients,
    job workers and anonymous callers too; `none`.
    """

    def __post_init__(self) -> None:
        if self.changes not in CHANGES:
            raise ValueError(f"it must be one of {', '.join(CHANGES)}")

    def records(self, audited: Audited, caller: Caller) -> bool:
        """Whether a change by this caller is recorded."""
        if audited.weight is Weight.ALWAYS or self.changes == "all":
            return True
        return audited.weight is Weight.BY_PEOPLE and caller.kind == "USER" and self.changes == "people"


def administration(entity: str, operation: str, related: str | None = None) -> Audited:
    """A change of users, roles, grants or the system."""
    return Audited(entity, operation, category=ADMIN, related=related)


def _task(operation: str) -> Audited:
    return Audited("USER_TASK", operation, Weight.BY_PEOPLE, USER_TASKS)


SYSTEM = administration("RESOURCE", "UPDATE")
"""The clock, the nodes, background jobs: the API has no entity for them. The description has method and path."""

DEPLOY = Audited("RESOURCE", "CREATE")
DELETE_DEFINITION = Audited("RESOURCE", "DELETE")
CREATE_DOCUMENT = Audited("RESOURCE", "CREATE", Weight.BY_PEOPLE)
LINK_DOCUMENT = Audited("RESOURCE", "UPDATE", Weight.BY_PEOPLE)
"""A link lets others read."""
SAVE_VIEW = Audited("RESOURCE", "UPDATE", Weight.BY_PEOPLE)
DELETE_VIEW = Audited("RESOURCE", "DELETE", Weight.BY_PEOPLE)
"""Views of lists. The API has no entity for them. The description has the path, and never name or filters."""
SAVE_ALERT_RULE = Audited("RESOURCE", "UPDATE")
DELETE_ALERT_RULE = Audited("RESOURCE", "DELETE")
"""The API has no entity for them. The description has the path."""
SAVE_DRAFT = Audited("RESOURCE", "UPDATE", Weight.BY_PEOPLE)
DELETE_DRAFT = Audited("RESOURCE", "DELETE", Weight.BY_PEOPLE)
"""Drafts of models. The description has the path, and neither name nor content."""
DELETE_DOCUMENT = Audited("RESOURCE", "DELETE", Weight.BY_PEOPLE)
CANCEL_INSTANCE = Audited("PROCESS_INSTANCE", "CANCEL")
DELETE_INSTANCE = Audited("PROCESS_INSTANCE", "DELETE")
MODIFY_INSTANCE = Audited("PROCESS_INSTANCE", "MODIFY")
MIGRATE_INSTANCE = Audited("PROCESS_INSTANCE", "MIGRATE")
SUSPEND_INSTANCE = Audited("PROCESS_INSTANCE", "SUSPEND")
RESUME_INSTANCE = Audited("PROCESS_INSTANCE", "RESUME")
RESOLVE_INCIDENT = Audited("INCIDENT", "RESOLVE")
UPDATE_JOB = Audited("JOB", "UPDATE")
UPDATE_TIMER = ASSIGN_BUSINESS_ID = Audited("PROCESS_INSTANCE", "UPDATE")

CREATE_BATCH, CANCEL_BATCH = Audited("BATCH", "CREATE"), Audited("BATCH", "CANCEL")
SUSPEND_BATCH, RESUME_BATCH = Audited("BATCH", "SUSPEND"), Audited("BATCH", "RESUME")

EVALUATE_DECISION = Audited("DECISION", "EVALUATE", Weight.BY_PEOPLE)
DELETE_DECISION = Audited("DECISION", "DELETE")
CREATE_INSTANCE = Audited("PROCESS_INSTANCE", "CREATE", Weight.BY_PEOPLE)
TELL_INSTANCES = Audited("PROCESS_INSTANCE", "UPDATE", Weight.BY_PEOPLE)
"""Messages and signals."""
UPDATE_INSTANCE = Audited("PROCESS_INSTANCE", "UPDATE", Weight.BY_PEOPLE)
"""Elements of ad-hoc sub-processes."""
SET_VARIABLES = Audited("VARIABLE", "UPDATE", Weight.BY_PEOPLE)
ASSIGN_TASK, UNASSIGN_TASK = _task("ASSIGN"), _task("UNASSIGN")
UPDATE_TASK, COMPLETE_TASK = _task("UPDATE"), _task("COMPLETE")
COMMENT_TASK = _task("UPDATE")
"""The API has no operation for comments. The description has the path, and never the text."""

COMPLETE_JOB = Audited("JOB", "COMPLETE", Weight.JOBS)
REPORT_JOB = Audited("JOB", "UPDATE", Weight.JOBS)
"""Failures and errors."""
