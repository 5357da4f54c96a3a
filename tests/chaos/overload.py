"""Ten times as many clients as give the highest throughput, each of which asks again at once.

The clients run in a process of lower priority, so that the server does not lose the processor to them. Other load of
the machine changes what a second gives. Therefore the CPU time of program and PostgreSQL for a command is told, too.
"""

import json
import sys
from dataclasses import dataclass

import psutil
import trio

from benchmarks.model import ONE_TASK
from tests.chaos.cluster import running
from tests.process.http_client import Caller
from tests.process.load import send_files
from tests.process.program import REPOSITORY

CREATORS = 32
TIMES = 10
WARMS_UP_S = 5
SAMPLE_S = 0.25


@dataclass(frozen=True)
class Overload:
    """Figures of the overload, and of the highest throughput before and after it."""

    peaks: tuple
    """The counts of the clients before the overload and after it."""
    overloaded: dict
    memory_mb: tuple
    """The program's largest resident set: at the peak, and under the overload."""

    def lines(self):
        peaks, mine = [_commands(each) for each in self.peaks], self.overloaded
        share = 100 * _commands(mine) / (sum(peaks) / len(peaks))
        yield f"peak: {peaks[0]:.0f} commands/s before, {peaks[1]:.0f} after"
        yield f"overload: {_commands(mine):.0f} commands/s, {share:.0f} % of it (goal: 90 %)"
        of_peaks = [each["cpu_us"] for each in self.peaks]
        share = 100 * sum(of_peaks) / len(of_peaks) / mine["cpu_us"]
        yield f"CPU time of a command: {of_peaks[0]:.0f} µs before, {mine['cpu_us']:.0f} µs, {of_peaks[1]:.0f} µs after"
        yield f"commands for the same CPU time: {share:.0f} % of the peak"
        yield f"accepted creations: p99 {mine['create_p99_ms']:.0f} ms (goal: 1,000 ms), {mine['refused']:.0f} refused"
        yield f"completions that were refused: {mine['not_completed']:.0f} (goal: 0)"
        before, under = self.memory_mb
        yield f"memory: {before:.0f} MB at the peak, then {under:.0f} MB, {under / before:.2f} times (goal: 1.5)"


async def overload(directory, logs, seconds, say):
    """Warm up, measure the peak, overload, measure the peak again."""
    async with running(directory, logs, nodes=1, name="overload") as cluster:
        (program,) = cluster.programs
        async with Caller(program.port) as caller:
            assert (await send_files(caller, {"one_task.bpmn": ONE_TASK.decode()})).status == 200
        await _clients(cluster, WARMS_UP_S, CREATORS)
        first, usual_mb = await _clients(cluster, seconds / 3, CREATORS)
        say(f"peak: {first}")
        mine, most_mb = await _clients(cluster, seconds, TIMES * CREATORS)
        say(f"overload: {mine}")
        await _clients(cluster, WARMS_UP_S, CREATORS)
        last, _ = await _clients(cluster, seconds / 3, CREATORS)
        say(f"peak again: {last}")
        assert program.running
    return Overload((first, last), mine, (usual_mb, most_mb))


def _commands(counted):
    """Creations and completions a second. After the overload clients also complete what it has left."""
    return counted["created_per_s"] + counted["instances_per_s"]


async def _clients(cluster, seconds, creators):
    """The counts of the clients, the CPU time of a command, and the program's largest resident set."""
    (program,) = cluster.programs
    command = ["-m", "benchmarks.http_client", str(program.port), "service", str(seconds), "0", str(creators)]
    memory, processes = [program.memory[0]], await _processes(cluster)
    before = _cpu_s(processes)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_sample, program, memory)
        done = await trio.run_process(["nice", sys.executable, *command], capture_stdout=True, cwd=REPOSITORY)
        nursery.cancel_scope.cancel()
    counted = json.loads(done.stdout)
    used_s = _cpu_s(await _processes(cluster)) - before
    return counted | {"cpu_us": 1e6 * used_s / (_commands(counted) * seconds)}, max(memory)


async def _processes(cluster):
    """The program and PostgreSQL."""
    ((child,),) = await cluster.rows("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    postgresql = psutil.Process(child).parent()
    return [psutil.Process(cluster.programs[0].pid), postgresql, *postgresql.children()]


def _cpu_s(processes):
    return sum(sum(process.cpu_times()[:4]) for process in processes if process.is_running())


async def _sample(program, memory):
    while True:
        memory.append(program.memory[0])
        await trio.sleep(SAMPLE_S)
