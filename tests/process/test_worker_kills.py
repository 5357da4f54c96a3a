"""Real workers in Python whose processes and whose server are killed: no job is lost, and none is worked twice within
its lease."""

import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.eventually import eventually
from tests.operations.tools import ROOT
from vivero.client.rest import Client
from vivero.embedded.processes import dying_with_us

pytestmark = pytest.mark.long
GREET = ROOT / "examples" / "first" / "greet.bpmn"
INSTANCES = 60
CODE = """
import os
import time
from pathlib import Path
from vivero.worker import Job, Worker

worker = Worker(concurrency=4)
LEDGER, GATE = Path("ledger.txt"), Path("gate.txt")


@worker.job("greet", lease_s=30, backoff_s=0)
def greet(name: str, job: Job):
    with LEDGER.open("a") as file:
        file.write(f"{os.getpid()} {job.job_key} {name}\\n")
    while not GATE.exists():
        time.sleep(0.01)
    return {"greeting": name}


worker.run()
"""


@pytest.fixture
def start_worker(tmp_path):
    """Starts workers, which are killed at the end of the test."""
    (tmp_path / "workers.py").write_text(CODE)
    started = []

    def start(port):
        environment = os.environ | {"VIVERO_ADDRESS": f"http://localhost:{port}", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "workers.py"]
        started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, preexec_fn=dying_with_us()))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


async def test_workers_and_the_server_are_killed(program, start_worker, tmp_path):
    ledger, gate = tmp_path / "ledger.txt", tmp_path / "gate.txt"
    ledger.touch()

    def worked():
        return [line.split() for line in ledger.read_text().splitlines()]

    async def ended(client):
        return (await client.search("process-instances", {"state": "COMPLETED"})).total

    await program.restart()
    async with Client(f"http://localhost:{program.port}", credentials="") as client:
        await client.deploy([GREET])
        for number in range(INSTANCES):
            await client.create("greet", {"name": f"n{number}"})
        first = start_worker(program.port)
        await eventually(lambda: len(worked()) == 4, "the first worker has four jobs")
        second = start_worker(program.port)
        await eventually(lambda: len(worked()) == 8, "the second worker has other jobs")
        assert max(Counter(key for _, key, _ in worked()).values()) == 1, "each job has one worker"
        await program.kill()
        await program.restart()
        first.kill()
        first.wait()
        gate.write_text("open")
        await eventually(
            lambda: ended(client), "all instances have ended", within_s=120, accept=lambda count: count == INSTANCES
        )
    of_second = Counter(key for pid, key, _ in worked() if pid == str(second.pid))
    assert max(of_second.values()) == 1, "one that lives works each job once, over a restart of the server"
    assert {name for *_, name in worked()} == {f"n{number}" for number in range(INSTANCES)}
    assert len(worked()) == INSTANCES + 4, "the jobs of the worker that was killed are worked again"
    second.terminate()
    assert second.wait(30) == 0
    assert not re.search("Traceback", program.whole_log())
