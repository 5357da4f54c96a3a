"""The answers to commands, and exceptions for what has ended otherwise than its caller expected."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from vivero.client.answers import ClientError


class DeployedProcess(msgspec.Struct, rename="camel", frozen=True):
    """A process of a deployment."""

    process_definition_id: str
    process_definition_version: int
    process_definition_key: str
    resource_name: str
    tenant_id: str


class DeployedDecision(msgspec.Struct, rename="camel", frozen=True):
    """A decision of a deployment."""

    decision_definition_id: str
    version: int
    decision_definition_key: str
    decision_requirements_key: str
    tenant_id: str
    name: str | None = None


class DeployedForm(msgspec.Struct, rename="camel", frozen=True):
    """A form of a deployment."""

    form_id: str
    version: int
    form_key: str
    resource_name: str
    tenant_id: str


class _Deployed(msgspec.Struct, rename="camel", frozen=True):
    process_definition: DeployedProcess | None = None
    decision_definition: DeployedDecision | None = None
    form: DeployedForm | None = None


class Deployment(msgspec.Struct, rename="camel", frozen=True):
    """A deployment. `warnings` are about models that work otherwise than they seem to."""

    deployment_key: str
    tenant_id: str
    deployments: list[_Deployed]
    warnings: list[str] = []

    @property
    def processes(self) -> list[DeployedProcess]:
        return [one.process_definition for one in self.deployments if one.process_definition is not None]

    @property
    def decisions(self) -> list[DeployedDecision]:
        return [one.decision_definition for one in self.deployments if one.decision_definition is not None]

    @property
    def forms(self) -> list[DeployedForm]:
        return [one.form for one in self.deployments if one.form is not None]


class Creation(msgspec.Struct, rename="camel", frozen=True):
    """The answer to the start of an instance."""

    process_instance_key: str
    process_definition_id: str
    process_definition_version: int
    process_definition_key: str
    tenant_id: str
    variables: dict[str, Any] = {}


class SentMessage(msgspec.Struct, rename="camel", frozen=True):
    """A message. `process_instance_key`: the instance that got it, after a correlation."""

    message_key: str
    tenant_id: str
    process_instance_key: str | None = None


class SentSignal(msgspec.Struct, rename="camel", frozen=True):
    signal_key: str
    tenant_id: str


class Evaluation(msgspec.Struct, rename="camel", frozen=True):
    """An evaluated decision. `output` is JSON."""

    decision_definition_id: str
    output: str | None = None
    failed_decision_definition_id: str | None = None
    failure_message: str | None = None


class Comment(msgspec.Struct, rename="camel", frozen=True):
    """A comment on a user task."""

    comment_key: str
    author: str | None
    text: str
    creation_date: datetime


class Comments(msgspec.Struct, rename="camel", frozen=True):
    items: list[Comment]


class QueuedCommand(msgspec.Struct, rename="camel", frozen=True):
    """A command that a transaction has queued: QUEUED, APPENDED, DONE, REJECTED (with code and reason), or ERASED.

    A background job has the id of its execution.
    """

    id: str
    state: str
    command_position: str | None = None
    background_job_id: str | None = None
    code: str | None = None
    reason: str | None = None
    answer: Any = None


class CreatedBatch(msgspec.Struct, rename="camel", frozen=True):
    batch_operation_key: str


class NotCompleted(ClientError):
    """A process instance has ended, but not by itself: somebody cancelled it. `key` is that of the instance."""

    def __init__(self, key: str) -> None:
        super().__init__(f"process instance {key} was cancelled")
        self.key = key


class StillRunning(ClientError, TimeoutError):
    """A process instance or a batch has not ended in time, and continues. `key`: that of the instance or the batch."""

    def __init__(self, what: str, key: str, timeout_s: float, more: str = "") -> None:
        super().__init__(f"{what} {key} has not ended within {timeout_s:g} s, and continues{more}")
        self.key = key


class NotDecided(ClientError):
    """The evaluation of a decision has failed. `decision_id`: the decision that failed, which another one may need."""

    def __init__(self, decision_id: str, reason: str) -> None:
        super().__init__(f"decision {decision_id}: {reason}")
        self.decision_id = decision_id
