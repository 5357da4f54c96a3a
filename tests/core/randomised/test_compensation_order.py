"""Compensation of random models: each handler once, the latest first, whatever happens, against an oracle.

    VIVERO_COMPENSATIONS=50000 VIVERO_SEED=1 make test-long WORKERS=0 ARGS="-s -k compensation_order"

runs as many models as wanted. A fault is told with its seed.
"""

import os
from random import Random

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.randomised.compensated_models import CompensatedModels
from tests.core.randomised.compensation_oracle import CompensationOracle
from tests.rounds import drawn
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident
from vivero.core.records.jobs import CompleteJob, ThrowJobError, UpdateJob
from vivero.core.resources.kinds import read_resource

LIMITS = (StepLimits(), StepLimits(quantum_items=1), StepLimits(quantum_items=3), StepLimits(paged_from=0))
COUNT = 15
MANY = int(os.environ.get("VIVERO_COMPENSATIONS") or 1_000)
MOST_COMMANDS = 400


@pytest.mark.long
def test_handlers_begin_in_the_order_that_the_oracle_tells(seed):
    begun = []
    for number in drawn(seed, COUNT, lambda: sum(begun) > COUNT):
        begun.append(play(number))
    assert sum(begun) > COUNT, "most models compensate something"


@pytest.mark.long
def test_handlers_begin_in_order_in_very_many_models(seed):
    faults, begun = [], 0
    for number in range(seed, seed + MANY):
        try:
            begun += play(number)
        except Exception as fault:
            faults.append(f"VIVERO_SEED={number}: {fault!r}")
            print(faults[-1], flush=True)
        if (number - seed) % 1_000 == 999:
            print(f"{number - seed + 1} models, {begun} handlers, {len(faults)} at fault", flush=True)
    assert not faults


def play(seed):
    """A run of a random model to its end; the number of handlers that have begun."""
    random = Random(seed)
    file = CompensatedModels(random, random.choice((1, 2, 3))).file()
    engine = Engine(random.choice(LIMITS), keeps_rows=False)
    engine.deploy(file)
    engine.run(CreateInstance("p", variables=raw({})))
    cancels = random.random() < 0.1
    for _ in range(MOST_COMMANDS):
        if not engine.state.elements:
            break
        engine.run(_cancel(engine) if cancels and random.random() < 0.05 else _next(engine, random))
        if random.random() < 0.05:
            rebuilt(engine)
    else:
        engine.run(_cancel(engine))
    assert not engine.state.elements, f"it does not end: {engine.elements}"
    assert not engine.state.registrations.by_key, "completed activities are left behind"
    (process,) = read_resource("p.bpmn", file).processes
    oracle = CompensationOracle(process.nodes)
    oracle.read(event for logged in engine.memory.log for one in logged.handled for event in one.events)
    oracle.check_end()
    return oracle.begun


def _cancel(engine):
    return CancelInstance(next(iter(engine.state.trees)))


def _next(engine, random):
    """Complete a job, mostly; or let it throw an error. An error that nobody catches is an incident: resolve it."""
    for incident in engine.state.incidents.values():
        if incident.job is not None and engine.state.jobs[incident.job].retries == 0:
            return UpdateJob(incident.job, retries=1)
        return ResolveIncident(incident.key)
    assert engine.state.jobs, f"nothing to do: {engine.elements}"
    key = random.choice(list(engine.state.jobs))
    return ThrowJobError(key, "A") if random.random() < 0.05 else CompleteJob(key)
