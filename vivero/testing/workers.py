"""The user's own workers in tests: their functions work the jobs of instances in memory, as they do those of a server.

The worker's own code gets arguments, runs the function and reports. The reports are read as the API reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from vivero import library
from vivero.api.http.decoding import as_variables, decode_json
from vivero.api.http.problems import REJECTIONS, Problem
from vivero.api.job_reports import reports
from vivero.api.settings import ApiSettings
from vivero.client.rest import ApiError
from vivero.core.records.effects import RejectionCode
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.core.snapshots.codec import decode
from vivero.library import Models, Rejected, Result
from vivero.library.calls import run
from vivero.testing.job_places import place_of
from vivero.testing.mocks import OwnWorker, Send
from vivero.worker import Job, Worker
from vivero.worker.jobs import JobFunction
from vivero.worker.outcomes import Report as WorkReport
from vivero.worker.requests import Exchanges
from vivero.worker.single_jobs import work_one

TOKEN = "in-memory"
"""The lease token of every job: only one worker works on an instance in memory."""
AT_FAULT = frozenset((RejectionCode.NOT_FOUND, RejectionCode.INVALID_STATE, RejectionCode.INVALID_ARGUMENT))
"""Rejections that a server would answer for good. The others fail the test."""
PATH = re.compile(r"/v2/jobs/\d+/(completion|failure|error)")
SETTINGS = ApiSettings()


def workers_in(given: OwnWorker | ModuleType) -> list[Worker]:
    """The worker itself, or those of a module. Raises ValueError for a module that has none, TypeError for others."""
    if isinstance(given, Worker):
        return [given]
    if not isinstance(given, ModuleType):
        raise TypeError(f"a test uses paths of files, workers, and modules with workers, not {given!r}")
    found = {id(value): value for value in vars(given).values() if isinstance(value, Worker)}
    if not found:
        raise ValueError(f"the module {given.__name__} has no object of vivero.worker.Worker")
    return list(found.values())


class OwnWorkers:
    """The functions of the workers that a test uses, by job type."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []

    def add(self, given: OwnWorker | ModuleType) -> None:
        """Raises TypeError, ValueError: a job type has two functions, or there is no worker."""
        for worker in workers_in(given):
            if worker in self._workers:
                continue
            for type in self.types & worker.functions.keys():
                raise ValueError(f"the job type {type!r} has a function already")
            self._workers.append(worker)

    @property
    def types(self) -> set[str]:
        """The job types that have a function, also those that were added to a worker meanwhile."""
        return {type for worker in self._workers for type in worker.functions}

    def work(self, job: library.Job, models: Models, snapshot: str) -> Result:
        """Work on a job. Gives the instance after the report. Raises AssertionError if there is no report.

        Raises Rejected and TooMuchWork as the functions of the library do.
        """
        __tracebackhide__ = True
        client = _Engine(models, snapshot)
        report = self._worked(job, snapshot, client)
        if client.result is None:
            raise AssertionError(f"The job of '{job.element}' {report.outcome}: {report.message}.")
        return client.result

    def work_at(self, send: Send, job: library.Job, snapshot: str) -> None:
        """Work on a job of a server, to which `send` takes the report. Raises AssertionError if there is no report."""
        __tracebackhide__ = True
        client = _Server(send)
        report = self._worked(job, snapshot, client)
        if not client.has_report:
            raise AssertionError(f"The job of '{job.element}' {report.outcome}: {report.message}.")

    def _worked(self, job: library.Job, snapshot: str, client: Exchanges) -> WorkReport:
        worker = next(one for one in self._workers if job.type in one.functions)
        function = worker.functions[job.type]
        return work_one(function, _activated(job.key, function, snapshot), client, worker.backend)


def _activated(key: int, function: JobFunction, document: str) -> Job:
    """The job as a server gives it to a worker, with the variables that the function fetches.

    Numbers keep their digits. The user task of a task listener is left out.
    """
    snapshot = decode(document)
    place = place_of(snapshot, key)
    job, process, root, seen = place.job, place.process, snapshot.elements[0], place.seen
    names = seen if function.fetched is None else function.fetched
    assert process.process is not None, "the outermost scope is a process instance"
    return Job(
        job_key=job.key,
        type=job.type,
        job_lease_token=TOKEN,
        retries=job.retries,
        process_instance_key=process.key,
        process_definition_id=process.element_id,
        process_definition_key=process.process.definition_key,
        element_id=place.element.element_id,
        element_instance_key=place.element.key,
        tenant_id=snapshot.tenant_id,
        kind=job.kind,
        root_process_instance_key=root.key,
        business_id=process.process.business_id,
        tags=list(process.process.tags),
        priority=job.priority,
        listener_event_type=None if job.listener_event == "UNSPECIFIED" else job.listener_event,
        headers=dict(job.headers),
        raw_variables={name: value for name, value in seen.items() if name in names},
    )


@dataclass(slots=True)
class _Engine:
    """Takes the reports of a worker instead of a server. `result`: the instance after the one that was accepted."""

    models: Models
    snapshot: str
    result: Result | None = None

    async def topology(self) -> dict[str, Any]:
        return {}

    async def exchange(
        self, method: str, path: str, content: bytes, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> tuple[bytes, int | None]:
        """Raises ApiError for what a server refuses."""
        found = PATH.fullmatch(path)
        if found is not None:  # the others are extensions of leases
            self._report(found[1], int(path.split("/")[3]), content)
        return b"", None

    def _report(self, kind: str, key: int, content: bytes) -> None:
        if len(content) > SETTINGS.max_body_bytes:
            raise ApiError(413, "Payload Too Large", f"the report has {len(content)} bytes", None, {})
        try:
            command = replace(COMMANDS[kind](key, content), lease=None)
            self.result = run(self.models, self.snapshot, None, command)
        except Problem as problem:
            raise ApiError(problem.status, problem.title, problem.detail, None, problem.members) from problem
        except Rejected as error:
            code = RejectionCode(error.code)
            if code not in AT_FAULT:
                raise
            raise ApiError(*REJECTIONS[code], str(error), None, {}) from error


@dataclass(slots=True)
class _Server:
    """Takes the reports of a worker to a server. The job has no lease, so that the reports need no token of one."""

    send: Send
    has_report: bool = False

    async def topology(self) -> dict[str, Any]:
        return {}

    async def exchange(
        self, method: str, path: str, content: bytes, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> tuple[bytes, int | None]:
        """Raises ApiError for what the server refuses."""
        if PATH.fullmatch(path) is None:
            return b"", None  # the others are extensions of leases
        body = {name: value for name, value in _raw_body.decode(content).items() if name != "jobLeaseToken"}
        self.send(method, path, body)
        self.has_report = True
        return b"", None


_raw_body = msgspec.json.Decoder(dict[str, msgspec.Raw])

Report = CompleteJob | FailJob | ThrowJobError
_variables_of = partial(as_variables, settings=SETTINGS)


def _completion(key: int, content: bytes) -> Report:
    body = decode_json(content, reports.completion_decoder, SETTINGS.max_nesting)
    return reports.completion(key, body, _variables_of, SETTINGS)


def _failure(key: int, content: bytes) -> Report:
    return reports.failure(key, decode_json(content, reports.failure_decoder, SETTINGS.max_nesting), _variables_of)


def _error(key: int, content: bytes) -> Report:
    return reports.error(key, decode_json(content, reports.error_decoder, SETTINGS.max_nesting), _variables_of)


COMMANDS: Mapping[str, Callable[[int, bytes], Report]] = {
    "completion": _completion,
    "failure": _failure,
    "error": _error,
}
"""The end of the path of a report → the command of its body. Each raises Problem 400."""
