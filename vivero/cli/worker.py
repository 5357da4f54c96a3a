"""The command `worker`: a job worker around a shell command."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from subprocess import PIPE
from typing import Any

import click
import trio

from vivero.cli.failures import Failure, run
from vivero.cli.options import address_option
from vivero.client import Client, ClientError, Document, address_from
from vivero.worker import MAX_MESSAGE, JobFailed, Report, Worker, WorkerSettings

MAX_OUTPUT = 4 * 1024 * 1024
"""Bytes of stdout and of stderr that are read: what the API takes as variables."""


@click.command()
@click.argument("type")
@click.option("--exec", "command", required=True, metavar="CMD", help="The shell command that does the work.")
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), default=1, show_default=True, help="Jobs at the same time."
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.001),
    default=60.0,
    show_default=True,
    help="Seconds a job may take; then it is stopped, and failed.",
)
@click.option("--max-jobs", type=click.IntRange(1), help="End after so many jobs.")
@click.option("--name", help="The worker's name, as lists of jobs show it.  [the host's]")
@click.option("--quiet", is_flag=True, help="Say nothing about jobs that went well.")
@address_option
def worker(
    type: str,
    command: str,
    concurrency: int,
    timeout_s: float,
    max_jobs: int | None,
    name: str | None,
    quiet: bool,
    address: str | None,
) -> None:
    """Work jobs of TYPE with a shell command.

    CMD gets the job's variables as a JSON object on standard input. A JSON object on its standard output becomes
    variables of the process. With an exit code other than 0 the job fails: what CMD wrote to standard error is the
    message, and the job has one retry less; with none left, it becomes an incident. Otherwise that is shown here.

    In its environment CMD finds VIVERO_JOB_KEY, VIVERO_JOB_TYPE, VIVERO_JOB_RETRIES, VIVERO_JOB_HEADERS (JSON),
    VIVERO_PROCESS_INSTANCE_KEY, VIVERO_PROCESS_ID and VIVERO_ELEMENT_ID.

    Ctrl-C and SIGTERM take no more jobs and finish those in hand; a second one stops those, too.

    \b
    Examples:
      vivero worker charge --exec 'jq "{charged: .total}"'
      vivero worker report --exec ./report.py --concurrency 4 --timeout 300
    """
    settings = WorkerSettings(name or socket.gethostname(), concurrency, timeout_s, max_jobs)

    def report(what: Report) -> None:
        if not quiet or what.outcome != "completed":
            click.echo(
                f"job {what.job['jobKey']} {what.outcome}{f': {what.message}' if what.message else ''}", err=True
            )

    async def session() -> None:
        async with Client(address_from(address)) as client, trio.open_nursery() as nursery:
            working = Worker(
                client, type, lambda job: execute(command, job), settings, report=report, trouble=_say_trouble()
            )
            nursery.start_soon(_stop_on_signal, working, nursery.cancel_scope)
            await working.run()
            nursery.cancel_scope.cancel()

    run(session, {ClientError: Failure})


async def _stop_on_signal(working: Worker, everything: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        asked = False
        async for _ in signals:
            if asked:
                everything.cancel()
                return
            asked = True
            click.echo("finishing the jobs in hand", err=True)
            working.stop()


def _say_trouble() -> Any:
    """Says each trouble once, not at every try."""
    last = ""

    def say(error: ClientError) -> None:
        nonlocal last
        if str(error) != last:
            last = str(error)
            click.echo(f"{error}; trying again", err=True)

    return say


# ------------------------------------------------------------------------------------------------- one execution


async def execute(command: str, job: Document) -> Mapping[str, Any]:
    """The variables that `command` gives for a job. Raises JobFailed. Cancelled, it leaves no process behind."""
    status, output, errors = await _run(command, json.dumps(job["variables"]).encode(), _environment(job))
    if status != 0:
        raise JobFailed(_message(status, errors))
    if errors:
        click.echo(errors.decode(errors="replace").rstrip(), err=True)
    if not output.strip():
        return {}
    try:
        variables = json.loads(output)
    except ValueError as error:
        raise JobFailed(f"the command's output is no JSON: {error}") from error
    if not isinstance(variables, dict):
        raise JobFailed(f"the command's output is no JSON object, but {output[:100].decode(errors='replace').strip()}")
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
    }


def _message(status: int, errors: bytes) -> str:
    text = errors.decode(errors="replace").strip()
    ended = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
    return text[-MAX_MESSAGE:] or f"the command gave no message ({ended})"


async def _run(command: str, given: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error of a shell command, in a process group of its own."""
    process = await trio.lowlevel.open_process(
        command, shell=True, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, env=environment
    )
    output, errors = bytearray(), bytearray()
    ended = False
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_feed, process, given)
            nursery.start_soon(_drain, process.stdout, output)
            nursery.start_soon(_drain, process.stderr, errors)
            status = await process.wait()
        ended = True
    finally:
        if not ended:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
            with trio.CancelScope(shield=True):
                await process.wait()
    if len(output) > MAX_OUTPUT:
        raise JobFailed(f"the command's output is longer than {MAX_OUTPUT} bytes")
    return status, bytes(output), bytes(errors)


async def _feed(process: trio.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(trio.BrokenResourceError):  # it does not have to read
        async with process.stdin:
            await process.stdin.send_all(given)


async def _drain(stream: Any, into: bytearray) -> None:
    """Read to the end; keep one byte more than is allowed."""
    async with stream:
        async for part in stream:
            into += part[: MAX_OUTPUT + 1 - len(into)]
