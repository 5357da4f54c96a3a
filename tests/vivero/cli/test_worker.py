"""`vivero worker`: a shell command between a job and its variables."""

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests import plain_http
from tests.eventually import eventually_sync
from tests.process.program import free_port
from vivero.cli import main
from vivero.cli.processes.shell_jobs import MAX_OUTPUT, execute
from vivero.cli.processes.worker import short
from vivero.cli.shared.streams import OutputFailed
from vivero.worker import Job, JobError, JobFailed, JobOutcome, Report, Worker

JOB = Job(
    job_key="11",
    job_lease_token="token",
    type="greet",
    retries=3,
    headers={"h": "v"},
    process_instance_key="22",
    process_definition_id="p",
    element_id="e",
    raw_variables={"name": msgspec.Raw(b'"Ada"'), "n": msgspec.Raw(b"2")},
)


def python(code):
    """The shell command that runs this code."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


# ------------------------------------------------------------------------------------------------- one execution


async def test_variables_go_in_and_come_out():
    code = "import json, sys; v = json.load(sys.stdin); print(json.dumps({'twice': v['n'] * 2}))"
    assert await execute(python(code), JOB) == ({"twice": 4}, None)


async def test_no_output_is_no_variables():
    assert await execute("cat > /dev/null", JOB) == ({}, None)


CRASHING = """
import os, trio
from pathlib import Path
from vivero.cli.processes.shell_jobs import execute
from vivero.worker import Job

async def crash(directory):
    async with trio.open_nursery() as nursery:
        command = f"read -r given; cd {directory}; sleep 3600 & echo $$ $! > new && mv new pids; wait"
        nursery.start_soon(execute, command, JOB)
        while not Path(directory, "pids").exists():
            await trio.sleep(0.01)
        os.kill(os.getpid(), 9)
"""


def test_a_command_and_its_children_end_with_a_worker_that_is_killed(tmp_path):
    """From the moment at which the command gets its input."""
    code = f"{CRASHING}\nJOB = Job(job_key='1', job_lease_token='t', retries=3)\ntrio.run(crash, {str(tmp_path)!r})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    eventually_sync(lambda: not any(map(is_alive, pids)), "the shell and its child have ended")


async def test_what_a_command_leaves_behind_outlives_it(tmp_path):
    """The end of the command is not that of the worker."""
    await execute(f"sleep 3600 > /dev/null 2>&1 & echo $! > {tmp_path}/pid", JOB)
    pid = int((tmp_path / "pid").read_text())
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def is_alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


LISTENER = {"kind": "TASK_LISTENER", "listener_event_type": "COMPLETING", "user_task": {"action": "approve"}}
AD_HOC = {"kind": "AD_HOC_SUB_PROCESS"}


@pytest.mark.parametrize(
    ("of", "output", "variables", "result"),
    [
        (LISTENER, "", {}, None),
        (LISTENER, '{"denied": true}', {}, {"type": "userTask", "denied": True}),
        (LISTENER, '{"variables": {}}', {}, {"type": "userTask", "variables": {}}),
        (AD_HOC, "{}", {}, None),
        (AD_HOC, '{"variables": {"x": 1}}', {"x": 1}, None),
        (
            AD_HOC,
            '{"activateElements": [{"elementId": "a"}], "variables": {"x": 1}}',
            {"x": 1},
            {"type": "adHocSubProcess", "activateElements": [{"elementId": "a"}]},
        ),
        ({"kind": "BPMN_ELEMENT"}, '{"denied": true}', {"denied": True}, None),
    ],
)
async def test_the_output_for_a_job_that_decides_is_its_result(of, output, variables, result):
    assert await execute(f"echo {shlex.quote(output)}", replace(JOB, **of)) == (variables, result)


async def test_the_transition_and_the_task_are_in_the_environment_of_a_listener():
    names = ("VIVERO_LISTENER_EVENT", "VIVERO_USER_TASK")
    code = f"import json, os; print(json.dumps([os.environ.get(name) for name in {names}]))"
    told = f"{python(code)} >&2; exit 1"
    with pytest.raises(JobFailed) as failed:
        await execute(told, replace(JOB, **LISTENER))
    assert json.loads(str(failed.value)) == ["COMPLETING", '{"action": "approve"}']
    with pytest.raises(JobFailed) as failed:
        await execute(told, JOB)
    assert json.loads(str(failed.value)) == [None, None]


async def test_what_it_says_besides_is_passed_on(capsys):
    assert await execute("echo working >&2; echo '{}'", JOB) == ({}, None)
    assert capsys.readouterr().err == "working\n"


async def test_a_command_need_not_read():
    big = replace(JOB, raw_variables={"x": msgspec.Raw(b'"%b"' % (b"y" * 1_000_000))})
    assert await execute("exec 0<&-; echo '{\"a\": 1}'", big) == ({"a": 1}, None)


async def test_the_job_is_in_the_environment():
    names = ("JOB_KEY", "JOB_TYPE", "JOB_RETRIES", "JOB_HEADERS", "PROCESS_INSTANCE_KEY", "PROCESS_ID", "ELEMENT_ID")
    code = f"import json, os; print(json.dumps({{name: os.environ['VIVERO_' + name] for name in {names}}}))"
    found = await execute(python(code), JOB)
    assert list(found.variables.values()) == ["11", "greet", "3", '{"h": "v"}', "22", "p", "e"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo broken >&2; exit 3", "broken"),
        ("exit 3", r"the command wrote nothing to standard error \(exit code 3\)"),
        ("kill -9 $$", r"the command wrote nothing to standard error \(killed by SIGKILL\)"),
        ("echo hello", "the command's output is not valid JSON: "),
        ("echo '[1]'", "the command's output must be a JSON object, but it is "),
        ("no-such-program-anywhere", "no-such-program-anywhere"),
        (f"head -c {MAX_OUTPUT + 1} /dev/zero", "the command's output is longer than"),
    ],
)
async def test_failures_say_why(command, message):
    with pytest.raises(JobFailed, match=message) as caught:
        await execute(command, JOB)
    assert caught.value.retries is None


async def test_an_exit_code_throws_a_bpmn_error():
    with pytest.raises(JobError) as caught:
        await execute("echo '{\"a\": 1}'; echo refused >&2; exit 3", JOB, {3: "card-refused"})
    assert (caught.value.code, caught.value.message, caught.value.variables) == ("card-refused", "refused", {"a": 1})
    with pytest.raises(JobFailed):
        await execute("exit 4", JOB, {3: "card-refused"})


async def test_of_what_a_good_command_says_the_end_is_passed_on(capsys):
    await execute("seq 1 30 >&2", JOB)
    assert capsys.readouterr().err.splitlines() == ["… 20 lines", *map(str, range(21, 31))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "no"),
        ("Traceback\n  File\nValueError: no", "ValueError: no (and 2 lines before it: `vivero jobs --json` has them)"),
        ("x" * 300, "x" * 200 + "…"),
        ("", ""),
    ],
)
def test_of_an_error_one_line_is_printed(text, said):
    assert short(text) == said


@pytest.mark.parametrize("given", ["3", "x=y", "0=y", "256=y", "3="])
def test_exit_codes_that_are_none(given):
    result = CliRunner().invoke(main, ("worker", "t", "--exec", "true", "--error", given))
    assert result.exit_code == 2
    assert "the form is EXIT=CODE" in result.stderr


async def test_a_long_message_keeps_its_end():
    with pytest.raises(JobFailed) as caught:
        await execute("yes x | head -c 100000 >&2; echo the end >&2; exit 1", JOB)
    assert len(str(caught.value)) == 4000
    assert str(caught.value).endswith("the end")


# ----------------------------------------------------------------------------------------------- with a server


def create(address, process, variables):
    body = {"processDefinitionId": process, "variables": variables}
    return plain_http.post(f"{address}/v2/process-instances", json=body, timeout=30).json()["processInstanceKey"]


def deploy(address, file):
    files = [("resources", (file.name, file.read_bytes()))]
    plain_http.post(f"{address}/v2/deployments", files=files, timeout=30).raise_for_status()


@pytest.fixture
def server(shared_server):
    return shared_server


@pytest.fixture
def type_(server, greeting):
    """The job type of the process of this test."""
    name, file = greeting
    deploy(server.address, file)
    return name


@pytest.fixture
def start(server, type_):
    return lambda **variables: create(server.address, type_, variables)


@pytest.fixture
def job_of(server):
    def find(instance):
        body = {"filter": {"processInstanceKey": instance}}
        [job] = plain_http.post(f"{server.address}/v2/jobs/search", json=body).json()["items"]
        return job

    return find


@pytest.fixture
def work(server, type_):
    def run(command, *options):
        arguments = ("worker", type_, "--exec", command, "--address", server.address, *options)
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return result

    return run


@pytest.mark.process
def test_jobs_are_completed(server, start, job_of, work):
    instances = [start(name=name) for name in ("Ada", "Grace", "Alan")]
    code = "import json, sys; print(json.dumps({'greeting': 'Hello, ' + json.load(sys.stdin)['name']}))"
    result = work(python(code), "--max-jobs", "3", "--concurrency", "2")
    assert result.stderr.count(" completed\n") == 3
    assert [job_of(instance)["state"] for instance in instances] == ["COMPLETED"] * 3
    body = {"filter": {"name": "greeting", "processInstanceKey": {"$in": instances}}}
    found = plain_http.post(f"{server.address}/v2/variables/search", json=body).json()["items"]
    assert sorted(json.loads(item["value"]) for item in found) == ["Hello, Ada", "Hello, Alan", "Hello, Grace"]


@pytest.mark.process
def test_a_failed_job_has_one_retry_less(start, job_of, work):
    instance = start()
    result = work("echo broken >&2; exit 1", "--max-jobs", "1", "--quiet")
    job = job_of(instance)
    assert result.stderr.splitlines()[1:] == [f"job {job['jobKey']} failed: broken"]
    assert result.stderr.startswith("listening for jobs of type '")
    assert (job["state"], job["retries"], job["errorMessage"]) == ("FAILED", 2, "broken")


@pytest.mark.process
def test_a_failed_job_waits_for_its_backoff(start, job_of, work):
    instance = start()
    work("exit 1", "--max-jobs", "1", "--backoff", "3600")
    assert job_of(instance)["state"] == "FAILED"
    other = start()
    work("exit 1", "--max-jobs", "1")
    assert [job_of(each)["retries"] for each in (instance, other)] == [2, 2]


@pytest.mark.process
def test_an_error_is_thrown_and_each_job_is_a_document(start, job_of, work):
    instance = start()
    result = work("echo refused >&2; exit 3", "--max-jobs", "1", "--error", "3=card-refused", "--json")
    done = json.loads(result.stdout)
    job = job_of(instance)
    assert (done["jobKey"], done["outcome"], done["message"]) == (
        job["jobKey"],
        "threw an error",
        "card-refused: refused",
    )
    assert (job["state"], job["errorCode"]) == ("ERROR_THROWN", "card-refused")


@pytest.mark.process
def test_a_command_that_takes_too_long_is_stopped_with_all_it_started(start, job_of, work, runs, tmp_path):
    instance = start()
    pid = tmp_path / "pid"
    result = work(f"sleep 1000 & echo $! > {pid}; wait", "--max-jobs", "1", "--timeout", "1")
    assert "failed: the job was not done within 1 s" in result.stderr
    assert job_of(instance)["retries"] == 2
    eventually_sync(lambda: not runs(int(pid.read_text())))


FIRST = Path(__file__).parents[3] / "examples" / "first" / "my_workers.py"


@pytest.mark.process
def test_the_first_worker_of_the_documentation_greets(server, vivero, type_, start, tmp_path):
    file = tmp_path / "my_workers.py"
    file.write_text(FIRST.read_text().replace('"greet"', f'"{type_}"'))
    vivero("worker", str(file), "--address", server.address)
    body = {"processDefinitionId": type_, "variables": {"name": "Ada"}, "awaitCompletion": True}
    ended = plain_http.post(f"{server.address}/v2/process-instances", json=body, timeout=60).json()
    assert ended["variables"] == {"name": "Ada", "greeting": "Hello, Ada!"}


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_the_pages_show_the_first_worker(page):
    [block] = re.findall(r"```python\n(.*?)```", (FIRST.parents[2] / page).read_text(), re.DOTALL)
    assert block == FIRST.read_text()
    assert len(block.splitlines()) <= 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("greet",), "there is no Python file or module 'greet': give one, or --exec CMD for the jobs of type 'greet'"),
        (("x.py", "--timeout", "3"), "--timeout is for --exec: a Python file says it at @worker.job(…)"),
        (("x.py", "--error", "3=x"), "--error is for --exec"),
        (("greet", "--exec", "true", "--reload"), "--reload is for a Python file"),
    ],
)
def test_options_of_the_other_form(arguments, message):
    result = CliRunner().invoke(main, ("worker", *arguments))
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("form", ["file", "command"])
def test_a_full_output_ends_the_worker_in_good_order(monkeypatch, tmp_path, form):
    """The job that it does not hear of is reported to the server."""
    told = []

    class Serving(Worker):
        async def serve(self):
            while not self._stopped:
                told.append(JOB.job_key)
                self.on_report(Report(JOB, JobOutcome.COMPLETED))

        async def serve_until_signal(self, tell=None):
            await self.serve()

    def full(_document):
        raise OutputFailed(OSError(errno.ENOSPC, "No space left on device"))

    monkeypatch.setattr("vivero.cli.processes.worker.Worker", Serving)
    monkeypatch.setattr("vivero.cli.shared.worker_modules.load", lambda _target: Serving())
    monkeypatch.setattr("vivero.cli.processes.worker.say", full)
    file = tmp_path / "my_workers.py"
    file.write_text("")
    target = [str(file)] if form == "file" else ["greet", "--exec", "true"]
    result = CliRunner().invoke(main, ["worker", *target, "--json"])
    assert isinstance(result.exception, OutputFailed)
    assert told == ["11"]


def test_a_file_that_is_not_there():
    result = CliRunner().invoke(main, ("worker", "nowhere/my_workers.py"))
    assert result.exit_code == 1
    assert "there is no file nowhere/my_workers.py" in result.stderr


@pytest.mark.process
def test_told_to_stop_it_finishes_what_it_has_in_hand(server, vivero, type_, start, job_of, tmp_path):
    first, second = start(), start()
    pipe, began = tmp_path / "pipe", tmp_path / "began"
    os.mkfifo(pipe)
    command = f"touch {began}; cat {pipe}"
    worker = vivero("worker", type_, "--exec", command, "--address", server.address)
    eventually_sync(began.exists)
    worker.process.send_signal(signal.SIGTERM)
    eventually_sync(lambda: worker.logged, accept=lambda found: "finishing the active jobs" in found)
    pipe.write_text('{"done": true}')
    assert worker.ends() == 0
    assert [job_of(first)["state"], job_of(second)["state"]] == ["COMPLETED", "CREATED"]


@pytest.mark.process
def test_told_twice_it_ends_at_once_and_gives_its_job_back(server, vivero, type_, start, work, runs, tmp_path, job_of):
    instance = start()
    pid = tmp_path / "pid"
    command = f"echo $$ > {pid}; sleep 1000"
    worker = vivero("worker", type_, "--exec", command, "--timeout", "3600", "--address", server.address)
    eventually_sync(lambda: pid.exists() and pid.read_text())
    worker.process.send_signal(signal.SIGTERM)
    eventually_sync(lambda: worker.logged, accept=lambda found: "finishing the active jobs" in found)
    worker.process.send_signal(signal.SIGTERM)
    assert worker.ends() == 0
    eventually_sync(lambda: not runs(int(pid.read_text())))
    assert worker.logged.endswith(" handed back\n")
    work("cat", "--max-jobs", "1")
    job = job_of(instance)
    assert (job["state"], job["retries"]) == ("COMPLETED", 3)


@pytest.mark.long
@pytest.mark.process
def test_it_waits_for_a_server_that_is_away(vivero, up, database, greeting):
    name, file = greeting
    port = str(free_port())
    server = up(database, "--port", port)
    deploy(server.address, file)
    create(server.address, name, {})
    server.process.send_signal(signal.SIGTERM)
    assert server.ends() == 0
    worker = vivero("worker", name, "--exec", "cat", "--max-jobs", "1", "--address", server.address)
    eventually_sync(lambda: worker.logged, accept=lambda found: "trying again" in found)
    assert "listening" not in worker.logged
    up(database, "--port", port)
    assert worker.ends() == 0
    assert worker.logged.endswith(" completed\n")
