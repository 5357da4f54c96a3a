"""Jobs that a shell command works: it gets the variables, and its output and exit code are the outcome."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from subprocess import DEVNULL, PIPE
from typing import Any

import trio

from vivero.client.rest import Document
from vivero.client.values import encoded
from vivero.config.json_input import parsed
from vivero.terminal.texts import echo
from vivero.worker import Job, JobCompletion, JobError, JobFailed
from vivero.worker.failures import MAX_MESSAGE

MAX_LINES = 10
"""Lines of the standard error of a command that succeeds."""
NO_CODES: Mapping[int, str] = {}
_GUARD = 'read -r line || kill -s KILL -- "-$1"'
"""A script of POSIX: a line means that the group $1 has ended or is ended by the worker; no line, that it has died."""
MAX_OUTPUT = 4 * 1024 * 1024
"""Bytes of stdout, and of stderr, that the worker reads: the API's limit for variables."""


async def execute(
    command: str, job: Job, codes: Mapping[int, str] = NO_CODES, timeout_s: float = math.inf
) -> JobCompletion:
    """The completion of a job with what `command` prints. Raises JobFailed, or JobError for the exit codes in `codes`.

    A cancellation, and the end of the time, kill its processes.
    """
    try:
        with trio.fail_after(timeout_s):
            return await _execute(command, job, codes)
    except trio.TooSlowError as error:
        raise JobFailed(f"the job was not done within {timeout_s:g} s") from error


async def _execute(command: str, job: Job, codes: Mapping[int, str]) -> JobCompletion:
    status, output, errors = await _run(command, encoded(job.raw_variables), _environment(job))
    if status in codes:
        raise JobError(codes[status], errors.decode(errors="replace").strip()[-MAX_MESSAGE:], _object(output))
    if status != 0:
        raise JobFailed(_message(status, errors))
    if errors:
        echo(_end_of(errors.decode(errors="replace")), err=True)
    return _completion(job.kind, _object(output))


def _completion(kind: str, document: Document) -> JobCompletion:
    """The completion of a job of this kind. The server checks the members of a result."""
    result_type = _RESULT_TYPES.get(kind)
    if result_type is None or not document:
        return JobCompletion(document)
    variables = document.pop("variables", None) or {} if kind == "AD_HOC_SUB_PROCESS" else {}
    return JobCompletion(variables, {"type": result_type, **document} if document else None)


_RESULT_TYPES = {"TASK_LISTENER": "userTask", "AD_HOC_SUB_PROCESS": "adHocSubProcess"}


def _end_of(text: str) -> str:
    """The last lines of what a command says while it succeeds."""
    lines = text.rstrip().splitlines()
    left_out = len(lines) - MAX_LINES
    return "\n".join([f"… {left_out} lines", *lines[-MAX_LINES:]] if left_out > 0 else lines)


def _object(output: bytes) -> Document:
    """The JSON object of a command's output. Raises JobFailed."""
    if not output.strip():
        return {}
    try:
        variables = parsed(output)
    except ValueError as error:
        raise JobFailed(f"the command's output is not valid JSON: {error}") from error
    if not isinstance(variables, dict):
        start = output[:100].decode(errors="replace").strip()
        raise JobFailed(f"the command's output must be a JSON object, but it is {start}")
    return variables


def _environment(job: Job) -> dict[str, str]:
    return os.environ | {
        "VIVERO_JOB_KEY": job.job_key,
        "VIVERO_JOB_TYPE": job.type,
        "VIVERO_JOB_RETRIES": str(job.retries),
        "VIVERO_JOB_HEADERS": json.dumps(job.headers),
        "VIVERO_PROCESS_INSTANCE_KEY": job.process_instance_key,
        "VIVERO_PROCESS_ID": job.process_definition_id,
        "VIVERO_ELEMENT_ID": job.element_id,
        **_of_listener(job),
        **{name.upper(): value for name, value in job.trace_headers.items()},
    }


def _of_listener(job: Job) -> dict[str, str]:
    """The transition that a task listener hears of, and its user task. Other jobs have none."""
    if job.kind != "TASK_LISTENER":
        return {}
    return {"VIVERO_LISTENER_EVENT": job.listener_event_type or "", "VIVERO_USER_TASK": json.dumps(job.user_task)}


def _message(status: int, errors: bytes) -> str:
    text = errors.decode(errors="replace").strip()
    ended = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
    return text[-MAX_MESSAGE:] or f"the command wrote nothing to standard error ({ended})"


async def _run(command: str, given: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    """Run a shell command in its own process group. Returns exit status, standard output and standard error.

    The group ends with this program, also if that is killed.
    """
    process = await trio.lowlevel.open_process(
        command, shell=True, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, env=environment
    )
    output, errors = bytearray(), bytearray()
    ended = False
    try:
        async with _guarded(process), trio.open_nursery() as nursery:
            nursery.start_soon(_feed, process, given)
            nursery.start_soon(_drain, process.stdout, output)
            nursery.start_soon(_drain, process.stderr, errors)
            status = await process.wait()
        ended = True
    finally:
        if not ended:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # including the processes that it started
            with trio.CancelScope(shield=True):
                await process.wait()
    if len(output) > MAX_OUTPUT:
        raise JobFailed(f"the command's output is longer than {MAX_OUTPUT} bytes, which is the limit")
    return status, bytes(output), bytes(errors)


@asynccontextmanager
async def _guarded(process: trio.Process) -> AsyncGenerator[None]:
    """For the block, another shell kills the group of a process as soon as this program has ended, however it ends.

    It waits at a pipe. PR_SET_PDEATHSIG would kill the process at the end of the thread that has started it, and would
    leave the processes that it started.
    """
    guard = await trio.lowlevel.open_process(
        ["/bin/sh", "-c", _GUARD, "sh", str(process.pid)],
        stdin=PIPE,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )
    assert guard.stdin is not None
    try:
        yield
    finally:
        with trio.CancelScope(shield=True), suppress(trio.BrokenResourceError):  # somebody has killed the guard
            await guard.stdin.send_all(b"\n")
        with trio.CancelScope(shield=True):
            await guard.stdin.aclose()
            await guard.wait()


async def _feed(process: trio.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(trio.BrokenResourceError):  # the command need not read its input
        async with process.stdin:
            await process.stdin.send_all(given)


async def _drain(stream: Any, into: bytearray) -> None:
    """Read to the end. Keep at most one byte more than the limit."""
    async with stream:
        async for part in stream:
            into += part[: MAX_OUTPUT + 1 - len(into)]
