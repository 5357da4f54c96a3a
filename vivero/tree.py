"""The supervision tree: all tasks of a running program. This is the only module that connects the parts.

        HTTP ──► api ──► appender ──► command_log
                 ▲                        │ wake, NOTIFY
                 │ completions            ▼
                 └──────────────────── consumer ──► state, events and cursor in one transaction
                                          │
listener ◄── NOTIFY ◄── announcer ◄───────┘
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog
import trio

from vivero.api import app, server, status_only
from vivero.api.access.authentication import Authenticator
from vivero.api.access.code_flow import CodeFlow
from vivero.api.access.rates import rates
from vivero.api.access.signing_keys import SigningKeys
from vivero.api.command_routing import CommandRouting
from vivero.api.job_turns import JobTurns
from vivero.api.long_polls import LongPolls
from vivero.api.memory_budget import MemoryBudget
from vivero.api.redirects import Redirects
from vivero.api.server import Endpoint
from vivero.api.services import Services
from vivero.api.tls import server as tls_server
from vivero.api.waits import Waits
from vivero.background import NAME as JOBS
from vivero.background import BackgroundJobs
from vivero.config import Config
from vivero.engine.bpmn.parser import parse
from vivero.engine.bpmn.xml import LIMITS
from vivero.engine.runtime.appender.task import Appender
from vivero.engine.runtime.chore_lock import ChoreLock
from vivero.engine.runtime.cluster.task import Cluster
from vivero.engine.runtime.completions import Completions
from vivero.engine.runtime.consumer.handovers import Handovers
from vivero.engine.runtime.consumer.leadership import Consumer
from vivero.engine.runtime.definitions import DefinitionCache
from vivero.engine.runtime.expiry import Expiry
from vivero.engine.runtime.figures import figures
from vivero.engine.runtime.maintenance import Maintenance
from vivero.engine.runtime.partition_names import task_name
from vivero.engine.runtime.retention import Retention
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.supervision.children import Child
from vivero.engine.runtime.supervision.loop_probe import LoopProbe
from vivero.engine.runtime.supervision.supervisor import Supervisor
from vivero.engine.runtime.supervision.watchdog import Watchdog
from vivero.engine.runtime.timers.task import Timers
from vivero.engine.runtime.warm_up import WarmUp
from vivero.node_events import CHANNELS, NodeEvents, announce_append
from vivero.roles import Role
from vivero.storage import attempts
from vivero.storage.nodes import NODES_CHANNEL, Registration
from vivero.storage.postgres.announcer import Announcer
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.migrate import SCHEMA_VERSION
from vivero.storage.postgres.notification_listener import NotificationListener
from vivero.storage.postgres.plans import BY_INDEX, CHORES, ONCE
from vivero.storage.postgres.pool import Pool
from vivero.storage.postgres.primary import Primary
from vivero.web import application as web
from vivero.web.application import WebParts
from vivero.web.console_files import find_console
from vivero.web.live import Hub
from vivero.web.mount import mount
from vivero.web.sign_in import SignIn

log = structlog.get_logger(__name__)

READ_TIMEOUT = "5s"
"""The server cancels a query after this time, because its client no longer waits for the answer."""
Connect = Callable[..., Callable[[], Awaitable[Connection]]]
"""(name of a connection, settings of its session) -> function that opens it."""
API_OR_ENGINE = (Role.API, Role.ENGINE)
LISTENING = (*API_OR_ENGINE, Role.WEB)
ENDS_TIMEOUT_S = 1.0
"""When the program stops, requests wait this long for the ends of process instances."""


@dataclass(slots=True)
class Tree:
    """The parts of a running program, for tests and metrics."""

    supervisor: Supervisor
    appender: Appender
    cluster: Cluster
    consumers: Mapping[int, Consumer]
    """By partition, like the timers."""
    timers: Mapping[int, Timers]
    completions: Completions
    definitions: DefinitionCache
    pools: tuple[Pool, ...]
    long_polls: LongPolls
    jobs: BackgroundJobs
    probe: LoopProbe = field(default_factory=LoopProbe)
    """Measures the longest time for which the event loop served nobody."""


def _connection(primary: Primary, name: str, **settings: str) -> Callable[[], Awaitable[Connection]]:
    return lambda: primary.connect(f"vivero:{name}", settings)


def _connection_before(primary: Primary, name: str, **settings: str) -> Callable[[float], Awaitable[Connection]]:
    return lambda deadline: primary.connect(f"vivero:{name}", settings, deadline)


def _abort(*pools: Pool) -> None:
    for pool in pools:
        pool.abort()


def _chores(config: Config, connection: Connect) -> Iterator[Child]:
    """The tasks that keep the tables small, each with its own connection. They work where this node has their lock."""
    lock = ChoreLock(connection("chore-lock"))
    yield Child("chore-lock", lock.run, lock.close)
    expiry = Expiry(connection("expiry", **CHORES), config.expiry, lock.partitions)
    yield Child("expiry", expiry.run, expiry.close)
    maintenance = Maintenance(connection("maintenance", **CHORES), config.maintenance, lock.partitions)
    yield Child("maintenance", maintenance.run, maintenance.close)
    retention = Retention(connection("retention", **CHORES), config.retention, lambda: bool(lock.partitions()))
    yield Child("retention", retention.run, retention.close)


@dataclass(frozen=True, slots=True)
class _Engine:
    """The tasks of the partitions. A failure of one restarts no other."""

    consumer: Callable[[int], Consumer]
    timer_task: Callable[[int], Timers]
    handovers: Handovers
    consumers: dict[int, Consumer] = field(default_factory=dict)
    """By partition, like the timers."""
    timers: dict[int, Timers] = field(default_factory=dict)

    def open(self, partition: int) -> Iterator[Child]:
        """Make the tasks of a partition."""
        self.handovers.open(partition)
        self.timers[partition] = timers = self.timer_task(partition)
        self.consumers[partition] = consumer = self.consumer(partition)
        yield Child(task_name("consumer", partition), consumer.run, consumer.close)
        yield Child(task_name("timers", partition), timers.run, timers.close)


def _pools(connection: Callable[..., Callable[[float], Awaitable[Connection]]], size: int) -> tuple[Pool, Pool, Pool]:
    """A pool for each kind of work: reads, job leases, reads of large jobs."""
    api = Pool(connection("api", statement_timeout=READ_TIMEOUT, **BY_INDEX), size)
    leasing = Pool(connection("leasing", statement_timeout=READ_TIMEOUT, **ONCE), size)
    large_jobs = Pool(connection("large-jobs", statement_timeout=READ_TIMEOUT, **ONCE), max(1, size // 4))
    return api, leasing, large_jobs


def _readers(config: Config) -> tuple[Pool, ...]:
    """The pool of the second role, which row-level security holds; none without multi-tenancy."""
    if not config.tenants.enabled:
        return ()
    if config.database.reader_url is None:
        raise ValueError("multi-tenancy needs database.reader_url")
    connection = partial(_connection_before, Primary(config.database.reader_url))
    return (Pool(connection("readers", statement_timeout=READ_TIMEOUT, **BY_INDEX), config.database.pool_size),)


def build(config: Config, dsn: str, node: str, endpoint: Endpoint, others: Sequence[Child] = ()) -> Tree:
    """All parts, connected. `node` is unique to this process; `others` are children that supervise PostgreSQL."""
    primary = Primary(dsn)
    connection, before = partial(_connection, primary), partial(_connection_before, primary)
    pools = (*_pools(before, config.database.pool_size), *_readers(config))
    completions = Completions(connection("completions", **ONCE))
    limits = replace(LIMITS, feel=config.feel.limits)
    definitions = DefinitionCache(pools[0].connection, read=partial(parse, limits=limits), consumers=config.partitions)
    max_waiting = min(config.api.max_waiting, config.http.max_connections * 3 // 4)
    handovers = Handovers(changed=lambda: cluster.changed())
    routing = CommandRouting(led=handovers.led)
    long_polls = _long_polls(config, max_waiting, routing, handovers)
    announcer = Announcer(before("announcer"), needed=lambda: not listener.alone)
    appender = _appender(config, connection, handovers, announcer)
    engine = _Engine(
        lambda partition: Consumer(
            primary.connect, node, definitions, events, config.consumer, partition,
            config.timers.rules, lambda: appender.busy, handovers[partition],
        ),
        lambda partition: Timers(
            connection(task_name("timers", partition)), appender, config.timers, partition,
            partial(handovers.leads, partition),
        ),
        handovers,
    )  # fmt: skip
    cluster = _cluster(
        config, node, connection, announcer, engine, lambda: warm_up.done, lambda *new: supervisor.add(*new)
    )
    warm_up = WarmUp(definitions, cluster.changed)
    (sign_in, access), jobs = _access(config, pools[0]), BackgroundJobs(config, primary, node)
    hub = Hub(min(config.web.max_streams, config.http.max_connections // 4), config.web.max_streams_per_client)
    events = NodeEvents(
        completions, definitions, long_polls, announcer, handovers, appender, engine.timers, cluster.look_soon,
        warm_up, hub, access, routing, jobs,
    )  # fmt: skip
    listener = NotificationListener(before("listener"), CHANNELS, events.heard, events.connected)

    def services() -> Services:
        return Services(
            appender, completions, definitions, pools[0], pools[1], pools[2], long_polls, supervisor, config.api,
            supervisor.chaos if config.chaos else None,
            events.clock_changed if config.control_clock else None,
            node, limits, Waits(max_waiting),
            MemoryBudget(max(config.api.pages_bytes, config.api.max_page_bytes)),
            redirects=Redirects(node, lambda: cluster.view) if config.api.redirect_to_leader else None,
            access=access, check_password=None if access is None else access.check_password, routing=routing,
            readers=next(iter(pools[3:]), None), figures=lambda: figures(supervisor, engine.consumers, definitions),
            rates=rates(config.api), multi_tenancy=config.tenants.enabled, audit=config.audit,
        )  # fmt: skip

    partitions = range(1, config.partitions + 1) if config.has_role(Role.ENGINE) else ()
    supervisor = Supervisor(
        [
            _api(config, services, endpoint, pools, long_polls, hub, sign_in),
            *_with_role(config, API_OR_ENGINE, Child("appender", appender.run, appender.close, appender.drain)),
            Child("cluster", cluster.run, cluster.close, cluster.drain),
            *(child for partition in partitions for child in engine.open(partition)),
            *_with_role(config, {Role.ENGINE}, Child("warm-up", warm_up.run)),
            *_with_role(config, {Role.JOBS}, *_chores(config, connection), *jobs.children()),
            *_with_role(config, {Role.API}, Child("completions", completions.run, completions.close)),
            *_with_role(config, LISTENING, Child("listener", listener.run, listener.abort)),
            *_with_role(config, API_OR_ENGINE, Child("announcer", announcer.run, announcer.abort)),
            *others,
        ],
        config.supervision,
    )
    return Tree(
        supervisor, appender, cluster, engine.consumers, engine.timers, completions, definitions, pools, long_polls,
        jobs,
    )  # fmt: skip


def _long_polls(config: Config, max_waiting: int, routing: CommandRouting, handovers: Handovers) -> LongPolls:
    turns = JobTurns(lambda: routing.routes.all, handovers.led)
    return LongPolls(max_waiting, config.api.slow_poll_s, config.api.activations_bytes, turns)


def _cluster(
    config: Config,
    node: str,
    connection: Connect,
    announcer: Announcer,
    engine: _Engine,
    warm: Callable[[], bool],
    add: Callable[..., None],
) -> Cluster:
    return Cluster(
        connection("cluster", **CHORES),
        _registration(config, node),
        engine.handovers,
        config.cluster,
        lambda: announcer.announce(NODES_CHANNEL, node, 1),
        lambda partition: add(*engine.open(partition)),
        warm,
    )


def _registration(config: Config, node: str) -> Registration:
    roles = [role.value for role in Role if config.has_role(role)]
    return Registration(node, roles, config.api.version, SCHEMA_VERSION, config.api.host, config.api.port)


def _with_role(config: Config, roles: Collection[Role], *children: Child) -> Sequence[Child]:
    """The children if this node has one of the roles, otherwise none."""
    return children if any(map(config.has_role, roles)) else ()


def _access(config: Config, pool: Pool) -> tuple[SignIn, Authenticator] | tuple[None, None]:
    """Nothing without authentication. The memory of callers survives restarts of the HTTP server."""
    auth = config.auth
    if auth.mode == "none":
        return None, None
    keys = SigningKeys(auth.oidc_issuer, auth.oidc_jwks) if auth.oidc_issuer else None
    flow = CodeFlow(auth, keys) if keys is not None and auth.oidc_client_id else None
    authenticator = Authenticator(auth, pool, keys)
    return SignIn(authenticator, pool, auth, flow), authenticator


def _appender(config: Config, connection: Connect, handovers: Handovers, announcer: Announcer) -> Appender:
    return Appender(
        connection("appender"),
        config.appender,
        appended=partial(announce_append, handovers, announcer),
        handed=handovers.take,
        consumed=handovers.consumed,
        owned=handovers.led,
    )


def _api(
    config: Config,
    services: Callable[[], Services],
    endpoint: Endpoint,
    pools: Sequence[Pool],
    long_polls: LongPolls,
    hub: Hub,
    sign_in: SignIn | None,
) -> Child:
    """The HTTP server. Each of its restarts builds new services."""
    drain, certificate = trio.Event(), endpoint.certificate
    serve_http = server.serve if certificate is None else partial(tls_server.serve, certificate=certificate)

    async def serve(beat: Beat) -> None:
        built = services()
        served = _served(config, built, hub, sign_in)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(built.deadlines.run)
            await serve_http(served, endpoint, settings=config.http, drain=drain, beat=beat.beat)
            nursery.cancel_scope.cancel()

    def finish() -> None:
        """Finish open requests. Long polls and streams of hints end at once."""
        drain.set()
        long_polls.close()
        hub.close()

    return Child("api", serve, partial(_abort, *pools), finish)


def _served(config: Config, services: Services, hub: Hub, sign_in: SignIn | None) -> app.App:
    """The REST API, or the status only without the role `api`; and the pages with the role `web`."""
    api = app.build(services) if config.has_role(Role.API) else status_only.build(services, config.roles)
    if not config.has_role(Role.WEB):
        return api
    files = find_console()
    if files is None:
        log.info("the console is not built, so its pages are missing", build="make console")
    return mount(api, web.build(WebParts(config.api, hub, files, sign_in)))


async def run(
    config: Config,
    dsn: str,
    node: str,
    endpoint: Endpoint,
    stop: trio.Event,
    started: Callable[[Tree], None] = lambda _tree: None,
    others: Sequence[Child] = (),
) -> None:
    """Run until `stop` is set. Then the API and the appender finish their work, and all other tasks are cancelled.

    Raises:
        Escalated: too many failures; the process should exit with a status other than 0.
    """
    tree = build(config, dsn, node, endpoint, others)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop, tree, stop, config.drain_s, nursery.cancel_scope)
        note = partial(tree.cluster.handovers.accuse, partial(attempts.leave_notes, dsn))
        watchdog = Watchdog(config.supervision.blocked_after_s, last_words=note)
        with watchdog.thread(), tree.probe.watching():
            nursery.start_soon(watchdog.run)
            started(tree)
            await tree.supervisor.run()
        nursery.cancel_scope.cancel()
    for pool in tree.pools:
        pool.close()
    tree.jobs.close()


async def _stop(tree: Tree, stop: trio.Event, grace_s: float, everything: trio.CancelScope) -> None:
    await stop.wait()
    log.info("stopping: finishing open requests", grace_s=grace_s)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_waiting, tree.completions)
        await tree.supervisor.stop("api", grace_s)
        nursery.cancel_scope.cancel()
    for name in (JOBS, "appender"):
        if tree.supervisor.has(name):
            await tree.supervisor.stop(name, grace_s)
    await tree.supervisor.stop("cluster", grace_s)
    everything.cancel()


async def _stop_waiting(completions: Completions) -> None:
    """Let requests wait a moment for the ends of instances, then answer them: jobs may take long."""
    await trio.sleep(ENDS_TIMEOUT_S)
    completions.give_up_ends()
