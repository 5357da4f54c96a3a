"""Faults as data: how each is injected, how it is proven that it bit, and when commands must be done again.

A fault is a context: inside it the fault is there, and behind it everything is healed. It yields a `Bite`.
"""

import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio

from tests.eventually import eventually

LEASE_S = 5.0
FROZEN_S = 7.0
HITS_S = 30.0
"""A fault that has met nothing after this time did not bite."""


@dataclass
class Bite:
    """The effect of a fault: `hits` proves it. The first new command goes to `port`; its time counts from `began`."""

    port: int
    began: float
    hits: int = 0
    recovered: float = 0.0
    """When all was well again, if that is not when the first new command is done."""


@dataclass(frozen=True)
class Fault:
    """A row of the table."""

    name: str
    inject: Callable[..., AbstractAsyncContextManager[Bite]]
    """(cluster, random) → context of a `Bite`."""
    proof: str
    """The kind of hits."""
    recovers_s: float
    """The first new command must be done after this time."""
    nodes: int = 2
    proxied: bool = False
    pace_s: float = 0.0
    """The time between two injections: of children, more failures than are tolerated would end the program."""
    counts_hits: bool = False
    """Rounds are counted by hits, because one round may have several."""


def _bite(program):
    return Bite(program.port, trio.current_time())


# ---- nodes


async def _kill(program):
    await program.kill()
    return int(program.exit_code == -signal.SIGKILL)


@asynccontextmanager
async def _killed_leader(cluster, _random):
    leader = await cluster.leader()
    bite = _bite(cluster.others(leader)[0])
    bite.hits = await _kill(leader)
    yield bite
    await leader.restart()


@asynccontextmanager
async def _killed_standby(cluster, _random):
    leader = await cluster.leader()
    standby = cluster.others(leader)[0]
    bite = _bite(leader)
    bite.hits = await _kill(standby)
    yield bite
    await standby.restart()


@asynccontextmanager
async def _killed_alone(cluster, _random):
    """Counts from the moment when the program is ready again."""
    (program,) = cluster.programs
    hits = await _kill(program)
    await program.restart()
    bite = _bite(program)
    bite.hits = hits
    yield bite


# ---- an owner that is frozen for longer than its lease


@asynccontextmanager
async def _frozen_leader(cluster, _random):
    """The leader stops at any point, mostly outside its transactions."""
    leader = await cluster.leader()
    bite = _bite(cluster.others(leader)[0])
    before = await cluster.epoch()
    leader.signal(signal.SIGSTOP)
    try:
        yield bite
        bite.hits = await cluster.epoch() - before
        await trio.sleep_until(bite.began + FROZEN_S)
    finally:
        leader.signal(signal.SIGCONT)


@asynccontextmanager
async def _frozen_in_a_pipeline(cluster, _random):
    """Its transaction is open, and half of it is said. The other half comes when another node leads."""
    leader = await cluster.leader()
    bite, proxy = _bite(cluster.others(leader)[0]), cluster.proxy(leader)
    before, met = await cluster.epoch(), proxy.hits

    def stop():
        bite.began = trio.current_time()
        leader.signal(signal.SIGSTOP)

    proxy.halve("writer", stop)
    stopped = await proxy.until_hit(met, HITS_S)
    try:
        yield bite
        await trio.sleep_until(bite.began + FROZEN_S)
        late = await proxy.deliver()
        bite.hits = min(late, await cluster.epoch() - before) if stopped else 0
    finally:
        proxy.clear()
        leader.signal(signal.SIGCONT)


# ---- PostgreSQL

_OURS = "FROM pg_stat_activity WHERE application_name LIKE 'vivero:%'"


@asynccontextmanager
async def _terminated_sessions(cluster, random):
    """Three times every session of every node."""
    bite = _bite(random.choice(cluster.programs))
    for _ in range(3):
        bite.hits += len(await cluster.rows(f"SELECT pg_terminate_backend(pid) {_OURS}"))
        await trio.sleep(random.uniform(0, 0.1))
    yield bite


@asynccontextmanager
async def _restarted_server(cluster, random):
    """An immediate stop, which is a crash without the loss of the machine's caches."""
    bite = _bite(random.choice(cluster.programs))
    bite.hits = len(await cluster.rows(f"SELECT pid {_OURS}"))
    await cluster.server.stop(signal.SIGQUIT)
    await cluster.server.start(max_connections="300")
    yield bite


@asynccontextmanager
async def _idle_transactions(cluster, random):
    """Old snapshots of others, and locks that readers take, beside the load."""
    bite = _bite(random.choice(cluster.programs))
    async with cluster.session(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "LOCK TABLE jobs, event_log, command_log, batches IN ACCESS SHARE MODE",
        "SELECT count(*) FROM jobs",
    ):
        yield bite
        bite.hits = len(await cluster.rows("SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'"))


@asynccontextmanager
async def _held_locks(cluster, random):
    """Somebody has the row of the partition, and takes half a second to go."""
    bite = _bite(random.choice(cluster.programs))
    async with cluster.session("SELECT * FROM partitions FOR UPDATE"):
        bite.hits = await _seen(cluster, "wait_event_type = 'Lock'", 0.5)
    yield bite


_SLOW = """
    CREATE OR REPLACE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON batches
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()"""


@asynccontextmanager
async def _slow_commits(cluster, random):
    """Each commit of a batch takes 200 ms longer, for two seconds."""
    bite = _bite(random.choice(cluster.programs))
    await cluster.rows(_SLOW)
    try:
        bite.hits, bite.began = await _seen(cluster, "wait_event = 'PgSleep'", 2.0), trio.current_time()
        yield bite
    finally:
        await cluster.rows("DROP TRIGGER slow_commit ON batches")


async def _seen(cluster, what, seconds):
    """The number of times that one of our sessions was in that state, over some seconds."""
    seen, until = 0, trio.current_time() + seconds
    while trio.current_time() < until:
        seen += len(await cluster.rows(f"SELECT pid {_OURS} AND {what}"))
        await trio.sleep(0.02)
    return seen


# ---- the network


@asynccontextmanager
async def _dropped_batches(cluster, _random):
    """The acknowledgement of the leader's next batch gets lost, and its connection with it."""
    leader = await cluster.leader()
    bite, proxy = _bite(leader), cluster.proxy(leader)
    before = proxy.hits
    proxy.drop_commit("writer")
    await proxy.until_hit(before, HITS_S)
    bite.began = trio.current_time()
    yield bite
    proxy.clear()
    bite.hits = proxy.hits - before


@asynccontextmanager
async def _dropped_appends(cluster, _random):
    """The acknowledgement of each node's next append gets lost."""
    bite = _bite(cluster.programs[0])
    before = [proxy.hits for proxy in cluster.proxies]
    for proxy in cluster.proxies:
        proxy.drop_commit("appender")
    for proxy, met in zip(cluster.proxies, before, strict=True):
        await proxy.until_hit(met, HITS_S)
    bite.began = trio.current_time()
    yield bite
    for proxy in cluster.proxies:
        proxy.clear()
    bite.hits = sum(proxy.hits for proxy in cluster.proxies) - sum(before)


def _on_the_way(name, do, seconds):
    """A fault of the leader's connections for some seconds; commands are asked of the other node."""

    @asynccontextmanager
    async def inject(cluster, _random):
        leader = await cluster.leader()
        bite, proxy = _bite(cluster.others(leader)[0]), cluster.proxy(leader)
        before = proxy.hits
        do(proxy, name)
        try:
            yield bite
            await trio.sleep_until(bite.began + seconds)
            await proxy.deliver()
            bite.hits = proxy.hits - before
        finally:
            proxy.clear()

    return inject


def _blacken(proxy, name):
    proxy.black = True
    proxy.blacken(name)


def _delay(proxy, name):
    proxy.delay(name, 0.2)


def _cut(proxy, name):
    proxy.cut(name)


def _hold(proxy, name):
    proxy.hold(name)


def _blacken_sessions(proxy, name):
    proxy.blacken(name)


def _children(kind, child):
    """`recovered`: /v2/status says so, after the child has ended. A hang counts from its detection."""

    @asynccontextmanager
    async def inject(cluster, _random):
        (program,) = cluster.programs
        log, began = program.log_bytes, "child gives no sign of life" if kind == "hang" else None
        bite = _bite(program)
        assert await program.hurt(child, kind) == 204
        if began is not None:
            await eventually(partial(_logged, program, log, began, child), f"{child} is found to hang")
            bite.began = trio.current_time()
        await eventually(partial(_logged, program, log, "child ended", child), f"{child} ends")
        await program.ready()
        bite.hits, bite.recovered = 1, trio.current_time()
        yield bite

    return inject


async def _logged(program, begin, event, child):
    return any(entry.get("event") == event and entry["child"] == child for entry in program.entries(begin))


CHILDREN = (
    *("api", "appender", "consumer", "timers", "chores", "completions", "listener"),
    "announcer",
)
CHILD_PACE_S = 11.0 / len(CHILDREN)
"""Each child lives for more than the ten seconds after which its next restart is immediate."""
OF_CHILDREN = {
    kind: tuple(
        Fault(f"{kind} {child}", _children(kind, child), "ends of the child", 1.0, nodes=1, pace_s=CHILD_PACE_S)
        for child in CHILDREN
    )
    for kind in ("raise", "cancel", "hang")
}

FAULTS = (
    Fault("kill -9 of the leader", _killed_leader, "the process ended by SIGKILL", 2.0),
    Fault("kill -9 of the standby", _killed_standby, "the process ended by SIGKILL", 2.0),
    Fault("kill -9 of a program alone", _killed_alone, "the process ended by SIGKILL", 1.0, nodes=1),
    Fault("SIGSTOP of the leader", _frozen_leader, "terms that began meanwhile", LEASE_S + 1),
    Fault(
        "SIGSTOP in a half-sent pipeline",
        _frozen_in_a_pipeline,
        "terms that began before the other half came",
        LEASE_S + 1,
        proxied=True,
    ),
    Fault("every session terminated", _terminated_sessions, "sessions", 2.0),
    Fault("immediate restart of PostgreSQL", _restarted_server, "sessions that were open", 5.0),
    Fault("idle transactions", _idle_transactions, "sessions idle in transaction", 1.0),
    Fault("held locks", _held_locks, "sessions that waited for a lock", 2.0),
    Fault("slow commits", _slow_commits, "commits seen asleep", 2.0),
    Fault("lost acknowledgements of batches", _dropped_batches, "acknowledgements", 2.0, proxied=True),
    Fault(
        "lost acknowledgements of appends", _dropped_appends, "acknowledgements", 2.0, proxied=True, counts_hits=True
    ),
    Fault("black hole", _on_the_way("", _blacken, FROZEN_S), "chunks swallowed", LEASE_S + 1, proxied=True),
    Fault("reset connections", _on_the_way("", _cut, 0), "connections reset", 2.0, proxied=True),
    Fault("delayed packets", _on_the_way("", _delay, 3), "chunks delayed", 5.0, proxied=True),
    Fault("late delivery", _on_the_way("", _hold, FROZEN_S), "chunks kept", LEASE_S + 1, proxied=True),
    Fault(
        "notification listener cut off",
        _on_the_way("listener", _blacken_sessions, 3),
        "chunks swallowed",
        2.0,
        proxied=True,
    ),
)
BY_NAME = {fault.name: fault for fault in (*FAULTS, *(one for some in OF_CHILDREN.values() for one in some))}
