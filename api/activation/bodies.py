"""The bodies of activations. Workers send the same one again and again, so that it is decoded and checked once."""

from __future__ import annotations

from typing import NamedTuple

from vivero.api.http.decoding import Body, Int64, Violations, as_int64, decode, decoder
from vivero.api.http.request import Request
from vivero.api.settings import ApiSettings
from vivero.core.bpmn.reading.text_limits import JOB_TYPE_BYTES
from vivero.storage.work.activation import ActivationRequest

MAX_WORKER = 1000
"""Characters of a worker's name."""
MAX_FETCHED = 1000
MAX_KNOWN = 256
MAX_KNOWN_BYTES = 1024
"""The most bytes of a body that is remembered."""


class ActivationBody(Body, frozen=True):
    type: str | None = None
    worker: str | None = None
    timeout: Int64 | None = None
    max_jobs_to_activate: Int64 | None = None
    fetch_variable: list[str] | None = None
    request_timeout: Int64 | None = None
    tenant_ids: list[str] | None = None
    tenant_filter: str | None = None
    with_lease: bool | None = None


_decoder = decoder(ActivationBody)


class ReadBody(NamedTuple):
    """A valid body, the request of its worker without a tenant, and the seconds for which it waits for a job."""

    body: ActivationBody
    ask: ActivationRequest
    wait_s: float


class ActivationBodies:
    """The latest valid bodies, by their bytes."""

    def __init__(self) -> None:
        self._known: dict[bytes, ReadBody] = {}

    def read(self, request: Request, settings: ApiSettings) -> ReadBody:
        """The body of a request. `settings` are always the same. Raises Problem 400."""
        found = self._known.get(request.body)
        if found is None:
            body = decode(request, _decoder, settings)
            found = ReadBody(body, _ask(body, settings), _wait_s(body, settings))
            if len(request.body) <= MAX_KNOWN_BYTES:
                if len(self._known) >= MAX_KNOWN:
                    del self._known[next(iter(self._known))]
                self._known[request.body] = found
        return found


def _ask(body: ActivationBody, settings: ApiSettings) -> ActivationRequest:
    """The request of a worker without a tenant. Raises Problem 400."""
    timeout_ms = as_int64(body.timeout, "timeout")
    limit = as_int64(body.max_jobs_to_activate, "maxJobsToActivate")
    found = Violations()
    found.require("type", body.type)
    found.largest("type", body.type, JOB_TYPE_BYTES)
    found.longest("worker", body.worker, MAX_WORKER)
    for name, number in (("timeout", timeout_ms), ("maxJobsToActivate", limit)):
        found.require(name, number)
        found.at_least(name, number, 1)
    if body.fetch_variable and len(body.fetch_variable) > MAX_FETCHED:
        found.add(f"The provided fetchVariable names are more than {MAX_FETCHED}")
    found.check()
    return ActivationRequest(
        body.type or "",
        "",
        min(limit or 0, settings.max_jobs),
        timeout_ms or 0,
        body.worker or "",
        list(dict.fromkeys(body.fetch_variable)) if body.fetch_variable else None,
        body.with_lease or False,
    )


def _wait_s(body: ActivationBody, settings: ApiSettings) -> float:
    poll_ms = as_int64(body.request_timeout, "requestTimeout") or settings.poll_timeout_ms
    return min(poll_ms / 1000, settings.max_wait_s)
