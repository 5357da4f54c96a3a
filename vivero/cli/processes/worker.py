"""The command `worker`: a job worker that runs a shell command."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from subprocess import DEVNULL, PIPE
from typing import Any

import click
import trio

from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import Seconds, backoff_option, json_option, say
from vivero.cli.shared.server_options import address_option
from vivero.client.rest import Client, ClientError, Document, address_from, trace_headers
from vivero.client.results import JobCompletion
from vivero.config.json_input import parsed
from vivero.worker import MAX_MESSAGE, JobError, JobFailed, Report, Worker, WorkerSettings

MAX_LINE = 200
"""Characters of an error message that the worker prints. The server has the whole message."""
MAX_LINES = 10
"""Lines of the standard error of a command that succeeds."""
NO_CODES: Mapping[int, str] = {}
_GUARD = 'read -r line || kill -s KILL -- "-$1"'
"""A script of POSIX: a line means that the group $1 has ended or is ended by the worker; no line, that it has died."""


class ExitCode(click.ParamType[tuple[int, str]]):
    """An exit code of the command, and the code of the BPMN error that it stands for."""

    name = "EXIT=CODE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, str]:
        exit_code, _, code = str(value).partition("=")
        if not exit_code.isdecimal() or len(exit_code) > 3 or not 1 <= int(exit_code) <= 255 or not code:
            self.fail("the form is EXIT=CODE, such as 3=card-refused, with an exit code from 1 to 255", param, ctx)
        return int(exit_code), code


ERROR = ExitCode()
MAX_OUTPUT = 4 * 1024 * 1024
"""Bytes of stdout, and of stderr, that the worker reads: the API's limit for variables."""


@click.command()
@click.argument("type")
@click.option("--exec", "command", required=True, metavar="CMD", help="The shell command that does the work.")
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), metavar="N", default=1, show_default=True, help="Jobs at a time."
)
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(0.001),
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="Time limit of a job in seconds; after it the command is killed and the job fails.",
)
@click.option("--max-jobs", type=click.IntRange(1), metavar="N", help="End after this number of jobs.")
@click.option("--name", help="The worker's name in lists of jobs.  [the host's name]")
@backoff_option
@click.option(
    "--error",
    "errors",
    type=ERROR,
    multiple=True,
    help="Throw the BPMN error CODE if CMD ends with this exit code; may be repeated.",
)
@click.option("--quiet", is_flag=True, help="Print no lines for completed jobs.")
@address_option
@json_option
def worker(
    type: str,
    command: str,
    concurrency: int,
    timeout_s: float,
    max_jobs: int | None,
    name: str | None,
    backoff_s: float,
    errors: tuple[tuple[int, str], ...],
    quiet: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Run a shell command for each job of TYPE.

    CMD reads the job's variables as a JSON object from standard input. A JSON object on its standard output becomes
    variables of the process. If the exit code is not 0, the job fails: the standard error of CMD is the message, and
    the job has one retry less; without retries it becomes an incident. With --error an exit code throws a BPMN error
    instead; the variables go along.

    For a task listener the output is the result instead, such as {"denied": true, "deniedReason": "not before noon"} or
    {"corrections": {"assignee": "ada"}}. For an ad-hoc sub-process it is {"activateElements": [{"elementId": "ask"}]}
    or {"isCompletionConditionFulfilled": true}, with variables of the process in "variables".

    The worker says when it listens, and a line for each job. Of a long standard error it prints the end only.

    The environment of CMD has VIVERO_JOB_KEY, VIVERO_JOB_TYPE, VIVERO_JOB_RETRIES, VIVERO_JOB_HEADERS (JSON),
    VIVERO_PROCESS_INSTANCE_KEY, VIVERO_PROCESS_ID and VIVERO_ELEMENT_ID; of a sampled trace also TRACEPARENT; for a
    task listener VIVERO_LISTENER_EVENT, such as COMPLETING, and VIVERO_USER_TASK (JSON), as the task will be.

    After Ctrl-C or SIGTERM the worker activates no more jobs and finishes the active ones. A second signal kills them,
    and gives the jobs back, so that other workers have them at once.

    \b
    Examples:
      vivero worker charge --exec "vivero feel '{charged: total}' --context @-"
      vivero worker report --exec ./report.py --concurrency 4 --backoff 30
      vivero worker pay --exec ./pay.sh --error 3=card-refused
      vivero worker check --exec "vivero feel '{denied: sum > 5}' --context @-"
    """
    settings = WorkerSettings(name or socket.gethostname(), concurrency, timeout_s, max_jobs, backoff_s=backoff_s)
    codes = dict(errors)

    async def session() -> None:
        async with Client(address_from(address)) as client, trio.open_nursery() as nursery:
            working = Worker(
                client,
                type,
                lambda job: execute(command, job, codes),
                settings,
                report=lambda done: _say_report(done, quiet, as_json),
                trouble=_say_trouble(),
                ready=lambda: click.echo(f"listening for jobs of type '{type}' at {client.address}", err=True),
            )
            nursery.start_soon(_stop_on_signal, working, nursery.cancel_scope)
            await working.run()
            nursery.cancel_scope.cancel()

    run(session, {ClientError: Failure})


def _say_report(done: Report, quiet: bool, as_json: bool) -> None:
    if quiet and done.outcome == "completed":
        return
    if as_json:
        names = ("jobKey", "type", "processInstanceKey", "elementId")
        say({name: done.job[name] for name in names} | {"outcome": done.outcome, "message": done.message})
    else:
        click.echo(
            f"job {done.job['jobKey']} {done.outcome}{f': {short(done.message)}' if done.message else ''}", err=True
        )


def short(text: str) -> str:
    """The last line of a text, which tells most of an error, with the number of lines that are left out."""
    lines = text.strip().splitlines() or [""]
    last = lines[-1] if len(lines[-1]) <= MAX_LINE else f"{lines[-1][:MAX_LINE]}…"
    return last if len(lines) == 1 else f"{last} (and {len(lines) - 1} lines before it: `vivero jobs --json` has them)"


async def _stop_on_signal(working: Worker, everything: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        stopping = False
        async for _ in signals:
            if sys.stderr.isatty():
                click.echo(err=True)  # behind the terminal's ^C
            if stopping:
                everything.cancel()
                return
            stopping = True
            click.echo("finishing the active jobs; a second signal gives them back at once", err=True)
            working.stop()


def _say_trouble() -> Any:
    """A function that prints an error unless the last one was equal."""
    last = ""

    def say(error: ClientError) -> None:
        nonlocal last
        if str(error) != last:
            last = str(error)
            click.echo(f"{error}; trying again", err=True)

    return say


# ------------------------------------------------------------------------------------------------- one execution


async def execute(command: str, job: Document, codes: Mapping[int, str] = NO_CODES) -> JobCompletion:
    """The completion of a job with what `command` prints. Raises JobFailed, or JobError for the exit codes in `codes`.

    A cancellation kills its processes.
    """
    status, output, errors = await _run(command, json.dumps(job["variables"]).encode(), _environment(job))
    if status in codes:
        raise JobError(codes[status], errors.decode(errors="replace").strip()[-MAX_MESSAGE:], _object(output))
    if status != 0:
        raise JobFailed(_message(status, errors))
    if errors:
        click.echo(_end_of(errors.decode(errors="replace")), err=True)
    return _completion(job.get("kind"), _object(output))


def _completion(kind: str | None, document: Document) -> JobCompletion:
    """The completion of a job of this kind. The server checks the members of a result."""
    result_type = _RESULT_TYPES.get(kind or "")
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


def _environment(job: Document) -> dict[str, str]:
    return os.environ | {
        "VIVERO_JOB_KEY": job["jobKey"],
        "VIVERO_JOB_TYPE": job["type"],
        "VIVERO_JOB_RETRIES": str(job["retries"]),
        "VIVERO_JOB_HEADERS": json.dumps(job["customHeaders"]),
        "VIVERO_PROCESS_INSTANCE_KEY": job["processInstanceKey"],
        "VIVERO_PROCESS_ID": job["processDefinitionId"],
        "VIVERO_ELEMENT_ID": job["elementId"],
        **_of_listener(job),
        **{name.upper(): value for name, value in trace_headers(job).items()},
    }


def _of_listener(job: Document) -> dict[str, str]:
    """The transition that a task listener hears of, and its user task. Other jobs have none."""
    if job.get("kind") != "TASK_LISTENER":
        return {}
    return {"VIVERO_LISTENER_EVENT": job["listenerEventType"], "VIVERO_USER_TASK": json.dumps(job["userTask"])}


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
