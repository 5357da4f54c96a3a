"""The command `worker`: the functions of a Python file, or a shell command, for jobs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from vivero.cli.processes.shell_jobs import execute
from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import Seconds, backoff_option, json_option, say
from vivero.cli.shared.server_options import address_option
from vivero.cli.shared.streams import OutputFailed
from vivero.client.rest import ClientError
from vivero.terminal.texts import echo
from vivero.worker import Job, JobCompletion, Report, Worker
from vivero.worker.worker import LEASE_S

MAX_LINE = 200
"""Characters of an error message that the worker prints. The server has the whole message."""


class ExitCode(click.ParamType[tuple[int, str]]):
    """An exit code of the command, and the code of the BPMN error that it stands for."""

    name = "EXIT=CODE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, str]:
        exit_code, _, code = str(value).partition("=")
        if not exit_code.isdecimal() or len(exit_code) > 3 or not 1 <= int(exit_code) <= 255 or not code:
            self.fail("the form is EXIT=CODE, such as 3=card-refused, with an exit code from 1 to 255", param, ctx)
        return int(exit_code), code


ERROR = ExitCode()
OF_COMMANDS = ("concurrency", "timeout_s", "max_jobs", "backoff_s", "errors")
"""Options of the form with --exec. A Python file says these for each of its functions."""


@click.command()
@click.argument("target", metavar="TYPE|FILE.py")
@click.option("--exec", "command", metavar="CMD", help="The shell command that does the work of jobs of TYPE.")
@click.option("--reload", is_flag=True, help="Start again when a Python file beside FILE.py changes.")
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
@click.pass_context
def worker(
    context: click.Context,
    target: str,
    command: str | None,
    reload: bool,
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
    """Work jobs with the functions of FILE.py, or run a shell command for each job of TYPE.

    FILE.py has a Worker of `vivero.worker` (docs/workers.md). A module's name stands for its file, and FILE.py:NAME for
    one of several workers. With --reload the worker starts again when a Python file in the file's directory changes.

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
      vivero worker my_workers.py --reload
      vivero worker charge --exec "vivero feel '{charged: total}' --context @-"
      vivero worker report --exec ./report.py --concurrency 4 --backoff 30
      vivero worker pay --exec ./pay.sh --error 3=card-refused
      vivero worker check --exec "vivero feel '{denied: sum > 5}' --context @-"
    """
    _check_options(context, target, command, reload)
    if reload:
        _run_again(target, context)
        return
    tell = partial(_say_report, quiet=quiet, as_json=as_json)
    if command is None:
        _run_file(target, name, address, tell)
        return
    working = Worker(address, name=name, concurrency=concurrency, grace_s=math.inf, max_jobs=max_jobs)
    codes = dict(errors)

    @working.job(target, backoff_s=backoff_s, lease_s=min(timeout_s, LEASE_S), limit_s=math.inf)
    async def run_command(job: Job) -> JobCompletion:
        return await execute(command, job, codes, timeout_s)

    speech = _Speech(working, tell)
    run(lambda: working.serve_until_signal(_say_signal), {ClientError: Failure})
    speech.check()


def _check_options(context: click.Context, target: str, command: str | None, reload: bool) -> None:
    """Raises UsageError for options that do not go together."""
    if command is not None:
        if reload:
            raise click.UsageError("--reload is for a Python file: a shell command is read again for each job")
        return
    from vivero.cli.shared.worker_modules import folder_of

    if not target.partition(":")[0].endswith(".py") and not _is_module(target, str(folder_of(target))):
        raise click.UsageError(
            f"there is no Python file or module '{target}': give one, or --exec CMD for the jobs of type '{target}'"
        )
    given = [name for name in OF_COMMANDS if context.get_parameter_source(name) is not click.ParameterSource.DEFAULT]
    if given:
        shown = "--" + given[0].removesuffix("_s").replace("_", "-").replace("errors", "error")
        raise click.UsageError(f"{shown} is for --exec: a Python file says it at @worker.job(…)")


def _is_module(target: str, folder: str) -> bool:
    import importlib.util

    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.util.find_spec(target.partition(":")[0]) is not None
    except (ImportError, ValueError):
        return False


def _run_file(target: str, name: str | None, address: str | None, tell: Callable[[Report], None]) -> None:
    """Run the worker of a Python file with its settings, which options override. Raises Failure."""
    from vivero.cli.shared.worker_modules import BadWorkers, load

    try:
        working = load(target)
        working.address, working.name = address or working.address, name or working.name
        speech = _Speech(working, tell)
        working.run(_say_signal)
        speech.check()
    except (BadWorkers, ClientError, ValueError) as error:
        raise Failure(str(error)) from error


def _run_again(target: str, context: click.Context) -> None:
    from vivero.cli.shared.reloading import reloading
    from vivero.cli.shared.worker_modules import folder_of

    values = {"--name": context.params["name"], "--address": context.params["address"]}
    flags = {"--quiet": context.params["quiet"], "--json": context.params["as_json"]}
    command = [sys.executable, "-m", "vivero", "worker", target]
    command += [part for option, value in values.items() if value for part in (option, value)]
    command += [flag for flag, given in flags.items() if given]
    run(lambda: reloading(command, folder_of(target)), {})


class _Speech:
    """Lets a worker print what it does. If standard output cannot be written, it finishes its jobs and ends."""

    def __init__(self, working: Worker, tell: Callable[[Report], None]) -> None:
        types = list(working.functions)
        of = f"of type '{types[0]}'" if len(types) == 1 else f"of {len(types)} types ({', '.join(types)})"
        working.on_trouble = _say_trouble()
        working.on_ready = lambda: echo(f"listening for jobs {of} at {working.server_address}", err=True)
        working.on_report = self._tell
        self._working, self._say = working, tell
        self._failed: OutputFailed | None = None

    def _tell(self, done: Report) -> None:
        try:
            self._say(done)
        except OutputFailed as error:
            self._failed = error
            self._working.stop()

    def check(self) -> None:
        """Raises OutputFailed."""
        if self._failed is not None:
            raise self._failed


def _say_report(done: Report, quiet: bool, as_json: bool) -> None:
    if quiet and done.outcome == "completed":
        return
    job = done.job
    if as_json:
        say(
            {
                "jobKey": job.job_key,
                "type": job.type,
                "processInstanceKey": job.process_instance_key,
                "elementId": job.element_id,
                "outcome": done.outcome,
                "message": done.message,
            }
        )
    else:
        echo(f"job {job.job_key} {done.outcome}{f': {short(done.message)}' if done.message else ''}", err=True)


def short(text: str) -> str:
    """The last line of a text, which tells most of an error, with the number of lines that are left out."""
    lines = text.strip().splitlines() or [""]
    last = lines[-1] if len(lines[-1]) <= MAX_LINE else f"{lines[-1][:MAX_LINE]}…"
    return last if len(lines) == 1 else f"{last} (and {len(lines) - 1} lines before it: `vivero jobs --json` has them)"


def _say_signal(text: str) -> None:
    if sys.stderr.isatty():
        echo(err=True)  # behind the terminal's ^C
    echo(text, err=True)


def _say_trouble() -> Callable[[ClientError], None]:
    """A function that prints an error unless the last one was equal."""
    last = ""

    def say(error: ClientError) -> None:
        nonlocal last
        if str(error) != last:
            last = str(error)
            echo(f"{error}; trying again", err=True)

    return say
