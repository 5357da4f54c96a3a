"""Messages, decisions, tasks, incidents, jobs and comments: the part of the client that needs no handles.

`make statements` writes `synchronous_operations.py` from `asynchronous_operations.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from vivero.client.records.jobs import JobRecord
from vivero.client.records.user_tasks import UserTaskRecord
from vivero.client.typed import requests
from vivero.client.typed.outcomes import (
    Comment,
    Comments,
    Evaluation,
    NotDecided,
    QueuedCommand,
    SentMessage,
    SentSignal,
)
from vivero.client.typed.requests import ApiRequest, key_of, milliseconds, named_variables
from vivero.client.typed.synchronous_searches import Searches
from vivero.client.values import decoded

T = TypeVar("T")


class Operations(Searches):
    """The requests that need no handle of an instance."""

    tenant_id: str | None

    @abstractmethod
    def send(self, request: ApiRequest) -> bytes:
        """The body of the answer to a request."""

    @abstractmethod
    def _answer(self, request: ApiRequest, type_: type[T]) -> T:
        """The answer as a record."""

    # ------------------------------------------------------------------------------------- messages and decisions

    def publish(
        self,
        name: str,
        correlation_key: str = "",
        variables: object = None,
        /,
        *,
        time_to_live_s: float = 0.0,
        message_id: str | None = None,
        **named: Any,
    ) -> SentMessage:
        """Publish a message to who waits for it now, or begins to within its time to live.

        A `message_id` is accepted once while the message lives: the next one gets Conflict.
        """
        request = requests.message(
            "publication",
            name,
            correlation_key,
            named_variables(variables, named),
            self.tenant_id,
            timeToLive=milliseconds("time_to_live_s", time_to_live_s),
            messageId=message_id,
        )
        return self._answer(request, SentMessage)

    def correlate(self, name: str, correlation_key: str = "", variables: object = None, /, **named: Any) -> SentMessage:
        """Send a message to the one who waits for it. Raises NotFound if nobody does."""
        found = named_variables(variables, named)
        request = requests.message("correlation", name, correlation_key, found, self.tenant_id)
        return self._answer(request, SentMessage)

    def signal(self, name: str, variables: object = None, /, **named: Any) -> SentSignal:
        """Broadcast a signal."""
        request = requests.signal(name, named_variables(variables, named), self.tenant_id)
        return self._answer(request, SentSignal)

    def decide(self, decision_id: str, variables: object = None, /, **named: Any) -> Any:
        """The output of the latest version of a decision. Raises NotDecided."""
        request = requests.decision(decision_id, named_variables(variables, named), self.tenant_id)
        found = self._answer(request, Evaluation)
        if found.failure_message is not None:
            raise NotDecided(found.failed_decision_definition_id or decision_id, found.failure_message)
        return None if found.output is None else decoded(found.output.encode(), Any)

    # ----------------------------------------------------------------------------------- tasks, incidents and jobs

    def complete(self, task: TaskSubject, variables: object = None, /, **named: Any) -> None:
        """Complete a user task, with variables for its process."""
        self.send(requests.of_task(task, "completion", {"variables": named_variables(variables, named)}))

    def assign(self, task: TaskSubject, assignee: str, *, override: bool = True) -> None:
        """Assign a user task. Without `override`, Conflict if it has an assignee."""
        self.send(requests.of_task(task, "assignment", {"assignee": assignee, "allowOverride": override}))

    def unassign(self, task: TaskSubject) -> None:
        """Remove the assignee of a user task."""
        key = key_of(task, "user_task_key")
        self.send(requests.command("DELETE", f"/v2/user-tasks/{key}/assignee"))

    def update(
        self,
        task: TaskSubject,
        *,
        due_date: datetime | str | None = None,
        follow_up_date: datetime | str | None = None,
        candidate_users: Collection[str] | None = None,
        candidate_groups: Collection[str] | None = None,
        priority: int | None = None,
    ) -> None:
        """Change attributes of a user task; an empty text or list removes one."""
        changes = requests.task_changes(due_date, follow_up_date, candidate_users, candidate_groups, priority)
        key = key_of(task, "user_task_key")
        self.send(requests.command("PATCH", f"/v2/user-tasks/{key}", {"changeset": changes}))

    def resolve(self, incident: IncidentSubject) -> None:
        """Resolve an incident: the server tries the failed step again. A job without retries needs `set_retries`."""
        key = key_of(incident, "incident_key")
        self.send(requests.command("POST", f"/v2/incidents/{key}/resolution", {}))

    def set_retries(self, job: JobSubject, retries: int) -> None:
        """Set the number of retries of a job."""
        key = key_of(job, "job_key")
        self.send(requests.command("PATCH", f"/v2/jobs/{key}", {"changeset": {"retries": retries}}))

    # ------------------------------------------------------------------------------------------- comments, outcomes

    def comment(self, task: TaskSubject, text: str) -> None:
        """Add a comment to a user task. One that may have arrived is not sent again."""
        self.send(requests.of_task(task, "comments", {"text": text}, keeps_no_key=True))

    def comments(self, task: TaskSubject) -> list[Comment]:
        """The comments on a user task, the oldest first: up to a hundred."""
        path = f"/v2/user-tasks/{key_of(task, 'user_task_key')}/comments/search"
        found = self._answer(ApiRequest("POST", path, {"page": {"limit": 100}}, is_read=True), Comments)
        return list(found.items)

    def queued(self, command: int | str) -> QueuedCommand:
        """The outcome of a command that a transaction has queued (docs/your-own-transaction.md). Raises NotFound."""
        return self._answer(requests.get(f"/queued-commands/{key_of(command)}"), QueuedCommand)


TaskSubject = UserTaskRecord | str | int
IncidentSubject = msgspec.Struct | str | int
JobSubject = JobRecord | str | int
