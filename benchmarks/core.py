"""The speed of the core alone: create + complete of a one-task process in memory, no database, no log."""

from __future__ import annotations

from time import perf_counter

from benchmarks.model import CREATE, ONE_TASK
from vivero.core.execution.outcomes import CommandRecord, Notices
from vivero.core.execution.step import Processor
from vivero.core.memory import MemoryEngine
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.jobs import CompleteJob
from vivero.core.state import batches
from vivero.core.state.state import State

INSTANCES = 10_000
RUNS = 3
BATCH = 100


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Events and commands a second, the best of three runs."""
    rates = [_run_once() for _ in range(RUNS)]
    events, commands = max(rates)
    return (
        {"events_per_s": events, "commands_per_s": commands, "events_per_command": events / commands},
        {"instances": f"{INSTANCES:,}", "runs": str(RUNS)},
    )


def _run_once() -> tuple[float, float]:
    engine = MemoryEngine()
    engine.deploy(ONE_TASK)
    processor, state = engine.processor, engine.state
    started, events = perf_counter(), 0
    for number in range(INSTANCES):
        events += _one_instance(processor, state, 2 * number)
        if number % BATCH == 0:
            roots = batches.close(state)
            state.begin_batch()
            batches.committed(state, roots)
            processor.notices = Notices()
    seconds = perf_counter() - started
    return events / seconds, 2 * INSTANCES / seconds


def _one_instance(processor: Processor, state: State, position: int) -> int:
    created = processor.process(CommandRecord(position, DEFAULT_TENANT, CREATE), now=0)
    job = next(iter(state.jobs))
    completed = processor.process(CommandRecord(position + 1, DEFAULT_TENANT, CompleteJob(job)), now=0)
    return len(created[0].events) + len(completed[0].events)
