"""The requests of a worker about its jobs. All are repeated while the server is away or overloaded."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import anyio
import msgspec

from vivero.client.rest import TIMEOUT_S, ApiError, ClientError, NotSendable, Unreachable
from vivero.client.results import JobCompletion
from vivero.client.values import encoded
from vivero.worker.job import Activated, Job

T = TypeVar("T")
FIRST_RETRY_S, LAST_RETRY_S = 0.1, 5.0
OVERLOADED = frozenset((429, 502, 503))
FAULTS_OF_SERVERS = OVERLOADED | {500, 504}
"""After these the worker asks for jobs again: its request is not at fault."""
NOT_FOUND = 404
WAIT_S = 20.0
"""The time that a long poll waits for jobs."""
_activated = msgspec.json.Decoder(Activated).decode


_LACKS = re.compile(r"missing required field .* at `\$\.jobs\[|\$\.jobs\[\d+\]\.")
"""An error of msgspec about a member of a job."""


class NotVivero(ClientError):
    """The jobs of the server lack what their reports need: it is not a Vivero server."""


class Exchanges(Protocol):
    """The part of `Client` that a worker uses."""

    async def topology(self) -> Any: ...

    async def exchange(
        self,
        method: str,
        path: str,
        content: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> tuple[bytes, int | None]: ...


class JobRequests:
    """Sends the requests of a worker. Calls `trouble` if the server does not answer, and `ready` when it does again."""

    def __init__(
        self,
        client: Exchanges,
        name: str,
        tenant_ids: Sequence[str],
        trouble: Callable[[ClientError], None],
        ready: Callable[[], None],
    ) -> None:
        self._client = client
        self._common = {"worker": name, "requestTimeout": int(WAIT_S * 1000), "withLease": True}
        if tenant_ids:
            self._common["tenantIds"] = list(tenant_ids)
        self._trouble = trouble
        self._ready = ready
        self._in_trouble = True

    async def reach(self) -> None:
        """Wait until the server answers for the first time. Raises ApiError if it refuses the credentials."""
        await self.repeated(self._client.topology, FAULTS_OF_SERVERS)

    async def activate(self, type: str, fetched: Sequence[str] | None, lease_s: float, limit: int) -> list[Job]:
        """Lease up to `limit` jobs, as soon as there is one. Raises ApiError, NotVivero."""
        body = {"type": type, "timeout": _ms(lease_s), "maxJobsToActivate": limit, **self._common}
        if fetched is not None:
            body["fetchVariable"] = list(fetched)

        async def request() -> list[Job]:
            answer, _ = await self._client.exchange(
                "POST", "/v2/jobs/activation", encoded(body), timeout=WAIT_S + TIMEOUT_S
            )
            return _jobs_of(answer)

        return await self.repeated(request, FAULTS_OF_SERVERS)

    async def complete(self, job: Job, completion: JobCompletion, trace: Mapping[str, str]) -> int | None:
        """Complete a job. Gives the position of the command in the log. Raises ApiError."""
        body: dict[str, Any] = {"variables": completion.variables}
        if completion.result is not None:
            body["result"] = completion.result
        return await self._report(job, "completion", body, trace)

    async def fail(
        self, job: Job, message: str, retries: int, backoff_s: float, trace: Mapping[str, str]
    ) -> int | None:
        """Fail a job. With 0 `retries`, an incident is created. Gives the position in the log. Raises ApiError."""
        body = {"retries": retries, "errorMessage": message, "retryBackOff": _ms(backoff_s, 0)}
        return await self._report(job, "failure", body, trace)

    async def throw_error(
        self, job: Job, code: str, message: str, variables: Mapping[str, Any], trace: Mapping[str, str]
    ) -> int | None:
        """Throw a BPMN error from a job. Gives the position of the command in the log. Raises ApiError."""
        return await self._report(
            job, "error", {"errorCode": code, "errorMessage": message, "variables": variables}, trace
        )

    async def set_lease(self, job: Job, lease_s: float) -> None:
        """Let the lease of a job end after this time from now, without repetitions. Raises ClientError."""
        body = {"changeset": {"timeout": _ms(lease_s)}, "jobLeaseToken": job.job_lease_token}
        await self._client.exchange("PATCH", f"/v2/jobs/{job.job_key}", encoded(body))

    async def _report(self, job: Job, path: str, body: dict[str, Any], trace: Mapping[str, str]) -> int | None:
        content = encoded({**body, "jobLeaseToken": job.job_lease_token})

        in_doubt = False

        async def request() -> int | None:
            nonlocal in_doubt
            try:
                answer = await self._client.exchange("POST", f"/v2/jobs/{job.job_key}/{path}", content, headers=trace)
            except Unreachable as error:
                in_doubt = in_doubt or error.in_doubt
                raise
            except ApiError as error:
                if in_doubt and error.status == NOT_FOUND:
                    return None  # the server has taken an earlier request, and its answer was lost
                raise
            return answer[1]

        return await self.repeated(request)

    async def repeated(self, request: Callable[[], Awaitable[T]], repeated: Collection[int] = OVERLOADED) -> T:
        """The answer to a request, which is repeated while the server is unreachable or answers with these statuses."""
        delay_s = FIRST_RETRY_S
        while True:
            try:
                answer = await request()
            except (NotVivero, NotSendable):
                raise
            except ApiError as error:
                if error.status not in repeated:
                    raise
                self._say(error)
            except ClientError as error:  # unreachable, or something on the way answers instead of the server
                self._say(error)
            else:
                if self._in_trouble:
                    self._in_trouble = False
                    self._ready()
                return answer
            await anyio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_RETRY_S)

    def _say(self, error: ClientError) -> None:
        self._in_trouble = True
        self._trouble(error)


def _jobs_of(answer: bytes) -> list[Job]:
    """Raises ClientError for something else than an answer, NotVivero for jobs without what a report needs."""
    try:
        return _activated(answer).jobs
    except msgspec.ValidationError as error:
        if _LACKS.search(str(error)):
            raise NotVivero(f"an activated job is not usable ({error}): is it a Vivero server?") from error
        raise ClientError(f"the answer has no list of jobs ({error}): is it a Vivero server?") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ClientError(f"the answer is not JSON ({error}): is it a Vivero server?") from error


def _ms(seconds: float, least: int = 1) -> int:
    return max(round(seconds * 1000), least)
