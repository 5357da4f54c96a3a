"""Compute processes: results, limits, ends. Nothing of them outlives the program."""

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.embedded.processes import dying_with_us
from vivero.engine.compute import compute_process
from vivero.engine.compute.compute_process import NICE, ComputeProcess
from vivero.engine.compute.models import URGENT_BYTES, model_reader
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import Busy, CannotWork, ProcessDied, TaskFailed, TooCostly
from vivero.engine.compute.settings import ComputeSettings
from vivero.engine.compute.turns import WorkKind

BODIES = WorkKind.BODIES


@pytest.fixture
async def make():
    made = []

    def make(**settings):
        start = settings.pop("start", ComputeProcess.start)
        made.append(ComputePool(ComputeSettings(processes=1, **settings), start=start))
        return made[-1]

    yield make
    for pool in made:
        await pool.close()


async def test_results_and_bugs_come_back_and_the_process_stays(make):
    pool = make()
    first = await pool.call(BODIES, os.getpid)
    with pytest.raises(TaskFailed, match="ValueError: invalid literal"):
        await pool.call(BODIES, int, "no number")
    content = os.urandom(3_000_000)
    assert await pool.call(BODIES, bytes.hex, content) == content.hex()
    assert await pool.call(BODIES, os.getpid) == first != os.getpid()
    assert (pool.stats.processes, pool.stats.started, pool.stats.done) == (1, 1, 3)


async def test_a_process_gives_way_and_inherits_nothing(make):
    pool = make()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        os.set_inheritable(listening.fileno(), True)
        assert await pool.call(BODIES, os.getpriority, os.PRIO_PROCESS, 0) == os.nice(0) + NICE
        ended = psutil.Process(await pool.call(BODIES, os.getpid))
        assert ended.net_connections("inet") == []
    path = await pool.call(BODIES, os.getenv, "PYTHONPATH")
    assert path.split(os.pathsep)[0] == _HOME, "no other folder's modules are imported"
    await pool.close()
    assert not ended.is_running()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
async def test_a_task_that_needs_too_much_memory_is_refused(make):
    pool = make(memory_bytes=128 * 1024 * 1024)
    with pytest.raises(TooCostly, match="more than 128 MiB of memory"):
        await pool.call(BODIES, bytearray, 10**9)
    assert await pool.call(BODIES, abs, -1) == 1
    assert (pool.stats.started, pool.stats.too_costly) == (2, 1)


@pytest.mark.long
async def test_a_task_that_takes_too_much_cpu_time_is_ended_even_in_one_long_call(make):
    pool = make(cpu_s=1)
    with pytest.raises(TooCostly, match="more than 1 s of CPU time"):
        await pool.call(BODIES, sum, range(10**12))
    assert await pool.call(BODIES, abs, -1) == 1


async def test_a_task_whose_process_was_killed_is_done_again(make):
    pool = make()
    os.kill(await pool.call(BODIES, os.getpid), signal.SIGKILL)
    assert await pool.call(BODIES, abs, -1) == 1
    assert pool.stats.processes == 1
    with pytest.raises(ProcessDied, match="ended with status -9"):
        await pool.call(BODIES, signal.raise_signal, signal.SIGKILL)
    assert (pool.stats.processes, pool.stats.running) == (0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
async def test_limits_of_the_program_hold_where_they_are_lower(make):
    """Nobody may raise them: a process that tried would end at once, and so would each after it."""

    async def start(settings):
        started = await ComputeProcess.start(settings)
        for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU):
            resource.prlimit(started.pid, kind, LIMITS[kind])
        return started

    pool = make(start=start)
    found = [await pool.call(BODIES, resource.getrlimit, kind) for kind in LIMITS]
    assert found == list(LIMITS.values())


LIMITS = {resource.RLIMIT_DATA: (200_000_000, 200_000_000), resource.RLIMIT_CPU: (25, 25)}


async def test_a_process_that_cannot_work_is_told_apart_from_one_that_was_ended(make, monkeypatch):
    async def start(_settings):
        await trio.lowlevel.checkpoint()
        raise BlockingIOError("no more processes")

    with pytest.raises(CannotWork, match="can be started: no more processes"):
        await make(start=start).call(BODIES, abs, -1)
    monkeypatch.setattr(compute_process, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    pool = make()
    with pytest.raises(CannotWork, match="ended with status 3"):
        await pool.call(BODIES, abs, -1)
    assert (pool.stats.processes, pool.stats.running) == (0, 0)


async def test_a_partition_gets_its_model_also_without_a_compute_process(make):
    """It would be restarted for ever. A client is told to come again."""

    async def start(_settings):
        await trio.lowlevel.checkpoint()
        raise BlockingIOError("no more processes")

    read = model_reader(make(start=start))
    parsed = await read(LARGE, "large.bpmn", True)
    assert [process.id for process in parsed.processes] == ["p"]
    with pytest.raises(CannotWork):
        await read(LARGE, "large.bpmn", False)


LARGE = (
    b'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" isExecutable="true">'
    b'<startEvent id="s"/></process></definitions>' + b" " * URGENT_BYTES
)


async def test_a_cancelled_task_ends_with_its_process(make, nursery):
    pool = make()
    process = psutil.Process(await pool.call(BODIES, os.getpid))
    with trio.CancelScope() as scope:
        nursery.start_soon(_cancel_soon, scope)
        await pool.call(BODIES, time.sleep, 1000)
    assert (process.is_running(), pool.stats.processes, pool.stats.running) == (False, 0, 0)
    assert await pool.call(BODIES, abs, -1) == 1


async def _cancel_soon(scope):
    await wait_all_tasks_blocked()
    scope.cancel()


class Slow:
    """A process that never answers."""

    usable, runs, pid = False, True, 0

    async def call(self, _work, _arguments):
        await trio.sleep_forever()

    async def end(self):
        pass


async def test_whoever_waits_too_long_is_told_so(make, nursery, autojump_clock):
    async def start(_settings):
        await trio.lowlevel.checkpoint()
        return Slow()

    pool = make(max_waiting=1, start=start)
    nursery.start_soon(pool.call, BODIES, abs, -1)
    await wait_all_tasks_blocked()
    with pytest.raises(Busy, match="for 15 s"):
        await pool.call(BODIES, abs, -1)
    nursery.start_soon(pool.call, BODIES, abs, -1)
    await wait_all_tasks_blocked()
    with pytest.raises(Busy, match="1 tasks wait"):
        await pool.call(BODIES, abs, -1)
    assert (pool.stats.waiting, pool.stats.refused) == (1, 2)
    nursery.cancel_scope.cancel()


async def test_idle_processes_end(make):
    pool = make(idle_s=0.0)
    process = psutil.Process(await pool.call(BODIES, os.getpid))
    await pool.run_once()
    assert (process.is_running(), pool.stats.processes) == (False, 0)
    assert await pool.call(BODIES, abs, -1) == 1


PROGRAM = """
import os, signal, trio
from vivero.engine.compute.models import URGENT_BYTES, model_reader
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.turns import WorkKind

async def main():
    pool = ComputePool()
    print(await pool.call(WorkKind.BODIES, os.getpid), flush=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool.call, WorkKind.BODIES, sum, range(10**12))
        await trio.testing.wait_all_tasks_blocked()
        os.kill(os.getpid(), signal.SIGKILL)

import trio.testing
trio.run(main)
"""


@pytest.mark.long
def test_a_killed_program_takes_its_compute_processes_with_it_in_the_middle_of_a_task():
    with subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": _HOME},
        preexec_fn=dying_with_us(),
    ) as program:
        pid = int(program.stdout.readlines()[-1])
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(60)


_HOME = str(Path(__file__).parents[3])


@pytest.mark.parametrize(
    ("asked", "processors", "programs", "places"),
    [(0, 1, 1, 1), (0, 2, 1, 1), (0, 8, 1, 4), (0, 64, 1, 4), (0, 8, 4, 1), (0, 2, 8, 1), (3, 1, 1, 3)],
)
def test_how_many_there_are(monkeypatch, asked, processors, programs, places):
    monkeypatch.setattr("vivero.engine.compute.settings.processors", lambda: processors)
    assert ComputeSettings(processes=asked).places(programs) == places
