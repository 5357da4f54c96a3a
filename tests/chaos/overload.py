"""Ten times as many clients as give the highest throughput, each of which asks again at once."""

import json
import sys
from dataclasses import dataclass

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
    """Commands a second: creations and completions."""
    overloaded: dict
    """What the clients counted."""
    memory_mb: tuple
    """The program's largest resident set: at the peak, and under the overload."""

    def lines(self):
        peak, mine = sum(self.peaks) / len(self.peaks), self.overloaded
        yield f"peak: {self.peaks[0]:.0f} commands/s before, {self.peaks[1]:.0f} after"
        yield f"overload: {_commands(mine):.0f} commands/s, {100 * _commands(mine) / peak:.0f} % of it (goal: 90 %)"
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
        await _clients(program, WARMS_UP_S, CREATORS)
        first, usual_mb = await _clients(program, seconds / 3, CREATORS)
        say(f"peak: {first}")
        mine, most_mb = await _clients(program, seconds, TIMES * CREATORS)
        say(f"overload: {mine}")
        await _clients(program, WARMS_UP_S, CREATORS)
        last, _ = await _clients(program, seconds / 3, CREATORS)
        say(f"peak again: {last}")
        assert program.running
    return Overload((_commands(first), _commands(last)), mine, (usual_mb, most_mb))


def _commands(counted):
    """Creations and completions a second. After the overload clients also complete what it has left."""
    return counted["created_per_s"] + counted["instances_per_s"]


async def _clients(program, seconds, creators):
    """What the clients counted, and the program's largest resident set meanwhile."""
    command = ["-m", "benchmarks.http_client", str(program.port), "service", str(seconds), "0", str(creators)]
    memory = [program.memory[0]]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_sample, program, memory)
        done = await trio.run_process([sys.executable, *command], capture_stdout=True, cwd=REPOSITORY)
        nursery.cancel_scope.cancel()
    return json.loads(done.stdout), max(memory)


async def _sample(program, memory):
    while True:
        memory.append(program.memory[0])
        await trio.sleep(SAMPLE_S)
