"""A run: a cluster under load, faults round after round, and the audit."""

from dataclasses import dataclass

import trio

from tests.chaos import replayed
from tests.chaos.cluster import PROCESS, running
from tests.chaos.figures import Figure
from tests.process.audit import audit, settled
from tests.process.load import Load
from tests.process.status_watch import StatusWatch

SETTLES_S = 180.0
PROGRESS_S = 90.0
MOST_BARREN = 2.0
"""Rounds that do not bite are repeated, up to so many times as many rounds as wanted."""


@dataclass(frozen=True)
class Result:
    """The figures of a run, and what its audit counted."""

    figures: list
    instances: int
    rows: int
    ledger: str
    silence_s: float
    """The longest time without an answered command throughout which the first node said that it was healthy."""


async def run(faults, rounds, random, directory, logs, *, nodes=2, partitions=1, say=print):
    """Inject `faults` in turn until each has bitten `rounds` times. Raises AssertionError if the run is void."""
    proxied = any(fault.proxied for fault in faults)
    figures = {fault.name: Figure(fault.name, fault.recovers_s) for fault in faults}
    async with running(directory, logs, nodes=nodes, partitions=partitions, proxied=proxied) as cluster:
        load = Load(cluster.ports, process=PROCESS, creators=4, workers=3, tellers=2, pause_s=0.03)
        watch = StatusWatch(cluster.ports[0])
        async with trio.open_nursery() as nursery:
            await nursery.start(load.run)
            nursery.start_soon(watch.run)
            await load.progress(10, PROGRESS_S)
            for number in range(int(rounds * MOST_BARREN)):
                left = [fault for fault in faults if _bites(fault, figures[fault.name]) < rounds]
                for fault in left:
                    next_s = trio.current_time() + fault.pace_s
                    await _round(cluster, load, fault, figures[fault.name], random, say)
                    await trio.sleep_until(next_s)
                if not left:
                    break
                say(f"round {number + 1}: {load.ledger}")
            silence_s = watch.longest_silence(load.ledger.moments)
            await load.stop_creating(SETTLES_S)
            await settled(cluster.dsn, SETTLES_S)
            nursery.cancel_scope.cancel()
        instances = await audit(cluster.dsn, load.ledger)
        rows = await replayed.check(cluster.dsn)
    check_bites(figures.values())
    return Result(list(figures.values()), instances, rows, str(load.ledger), silence_s)


def check_bites(figures):
    """A run whose faults did not bite shows nothing."""
    for figure in figures:
        assert figure.bit, f"void: {figure.name!r} was injected {figure.injected} times and never bit"


def _bites(fault, figure):
    return figure.hits if fault.counts_hits else figure.bit


async def _round(cluster, load, fault, figure, random, say):
    await load.progress(random.randrange(1, 10 if fault.pace_s else 40), PROGRESS_S)
    in_flight = load.ledger.in_flight
    with trio.fail_after(PROGRESS_S):
        async with fault.inject(cluster, random) as bite:
            await load.first_command(bite.port)
            done = await load.first_commands(bite.port, cluster.partitions)
    await cluster.ready()
    seconds = (bite.recovered or done) - bite.began
    figure.note(bite.hits if in_flight else 0, seconds)
    say(f"{fault.name}: {bite.hits} hits, well again after {seconds:.2f} s ({figure.bit}/{figure.injected})")
