"""Calls: what a connector gets for a job, and what it answers.

`outcome` turns the answer or the error into the outcome of the job, in the same way for all connectors
(docs/connectors.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import trio

from vivero.core.shared.jobs import AD_HOC
from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import FULL, Completion, Effort, Failure, Outcome, completion, examine
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the job, its inputs with secrets, and the secrets that must not come back."""

    job: ConnectorJob
    inputs: Mapping[str, Any]
    used: UsedSecrets


Answer = Mapping[str, Any] | Completion
"""The fields of the result, which result expressions see; or a completion that the connector has decided itself.

Nothing in it contains a secret."""


class Connector(Protocol):
    """Works the jobs of one contract on a node. It is made with `outbound.surroundings.Surroundings`."""

    async def answer(self, call: Call) -> Answer:
        """Raises ConnectorError. It is cancelled when its time is over, or its job is gone."""


async def outcome(
    contract: Contract, connector: Connector, job: ConnectorJob, used: UsedSecrets, limit_s: float
) -> Outcome:
    """The outcome of a job. Nothing in it contains a secret. `limit_s`: the time of the call."""
    return conclude(job, await answered(contract, connector, job, used, limit_s))


async def answered(
    contract: Contract, connector: Connector, job: ConnectorJob, used: UsedSecrets, limit_s: float
) -> Answer | ConnectorError:
    """The answer to a job, or its error. Nothing in it contains a secret. `limit_s`: the time of the call."""
    try:
        return await _answer(contract, connector, job, used, limit_s)
    except ConnectorError as raised:
        return masked(raised, used)


def conclude(job: ConnectorJob, answer: Answer | ConnectorError, effort: Effort = FULL) -> Outcome:
    """The outcome of a job, by the expressions of its headers. Raises TooMuchEffort."""
    response: Mapping[str, Any] | None = None
    error: ConnectorError | None = None
    done = Completion({})
    try:
        try:
            if isinstance(answer, ConnectorError):
                error = answer
            elif isinstance(answer, Completion):
                response, done = answer.variables, answer
            else:
                response = answer
                done = completion(response, job.custom_headers, effort)
        except ConnectorError as raised:
            error = raised
        decided = None
        if error is None or not error.keeps_retries:
            decided = _examined(job, response, error, done.variables, effort)
    except ConnectorError as raised:
        error, decided = raised, None
    if decided is not None:
        return decided
    return done if error is None else failure(error, job.retries)


def _examined(
    job: ConnectorJob,
    response: Mapping[str, Any] | None,
    error: ConnectorError | None,
    variables: Mapping[str, Any],
    effort: Effort,
) -> Outcome | None:
    """The decision of the error expression. It cannot complete the job of an ad-hoc sub-process, which would stall."""
    decided = examine(job.custom_headers, response, error, variables, job.retries, effort)
    if isinstance(decided, Completion) and job.kind == AD_HOC:
        text = "ignoreError cannot complete the job of an ad-hoc sub-process: use bpmnError or jobError"
        raise ConnectorError("ERROR_EXPRESSION", text, final=True)
    return decided


async def _answer(
    contract: Contract, connector: Connector, job: ConnectorJob, used: UsedSecrets, limit_s: float
) -> Answer:
    try:
        with trio.fail_after(limit_s):
            return await connector.answer(Call(job, _inputs(contract, job, used), used))
    except trio.TooSlowError as error:
        raise ConnectorError("TIMEOUT", "the servers did not answer within the time limit") from error
    except RecursionError as error:
        raise ConnectorError("BAD_RESPONSE", "the response is nested too deeply", final=True) from error


def _inputs(contract: Contract, job: ConnectorJob, used: UsedSecrets) -> Mapping[str, Any]:
    try:
        return used.inputs(job, contract.secrets)
    except UnknownSecret as error:
        raise ConnectorError("UNKNOWN_SECRET", str(error), final=True) from error


def failure(error: ConnectorError, retries: int) -> Failure:
    """A failed job with the variable `error`. A final error leaves no retries. `retries`: those of the job."""
    left = retries if error.keeps_retries else 0 if error.final else None
    return Failure(str(error), {"error": error.document}, left, error.backoff_ms)


def masked(error: ConnectorError, used: UsedSecrets) -> ConnectorError:
    """The error without secrets."""
    return replace(error, message=used.mask(error.message), variables=used.mask(dict(error.variables)))
