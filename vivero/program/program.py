"""The program around the supervision tree: PostgreSQL and its schema, listening sockets, signals."""

from __future__ import annotations

import gc
import os
import resource
import secrets
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

import structlog
import trio

from vivero import logs
from vivero.api.http1.listeners import ListenError, open_listeners
from vivero.api.serving.certificate import certificate_of
from vivero.api.serving.server import Endpoint
from vivero.api.settings import ApiSettings
from vivero.config import budget, connection_budget
from vivero.config.sections import Config
from vivero.config.task_listeners import UserTaskSettings
from vivero.engine.supervision.children import Child
from vivero.logs import levels
from vivero.node import background, tree
from vivero.program import access
from vivero.program.database import leased, prepare
from vivero.program.hangup import Hangup
from vivero.storage.access import row_security
from vivero.storage.cluster import leadership
from vivero.storage.postgres import driver
from vivero.storage.schema.checks import Server
from vivero.storage.schema.migration_files import Migration
from vivero.storage.state import task_listeners

log = structlog.get_logger(__name__)

GC_THRESHOLDS = (5_000, 800, 50)
"""Collections are rare, because they find little and stop the event loop.

Live instance trees contain reference cycles and live long. The engine breaks the cycles of ended and evicted trees, so
these are freed without the collector. A full collection takes 0.1 s. A collection of the youngest generation takes 1 to
2 ms with a threshold of 5,000 objects, and 6 ms with 20,000.
"""

SWITCH_S = 0.0005
"""A thread that computes gives the interpreter back to the event loop after this time, at each turn of the loop.

Beside a thread that decodes 4 MB of fractions, an exchange over a socket took up to 30 ms (p99) with Python's 5 ms, and
2 ms with this. Without such a thread it costs nothing.
"""
OTHER_FILES = 200
"""Open files that are not client connections: sockets of the database, listening sockets, pipes, logs, uploads."""
SAME_SIGNAL_S = 0.2
"""Signals within this time count as one: `timeout` and terminals signal the program and then its process group."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The state of the program once it serves clients."""

    address: str
    dsn: str
    server: Server
    embedded: bool
    admin: str | None = None
    """The URL of the admin port, if there is one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The parts that exist before anything is served: the listening sockets, and a database with the newest schema."""

    config: Config
    """The settings, with the port and the number of partitions as they are."""
    dsn: str
    server: Server
    listeners: Sequence[trio.SocketListener]
    others: Sequence[Child]
    """Children that supervise the embedded PostgreSQL."""
    hangup: Hangup = field(default_factory=Hangup)
    """The reaction to a SIGHUP."""
    further: Sequence[trio.SocketListener] = ()
    """The sockets that `listen` of `up` has opened."""

    def ready(self, admin: str | None = None) -> Ready:
        """The state to report when clients are served."""
        return Ready(address(self.config), self.dsn, self.server, self.config.database.url is None, admin)


Serve = Callable[[Prepared, Callable[[Ready], None], trio.Event], Awaitable[None]]
"""Serves until the event is set. Calls the function once clients are served."""


Listen = Callable[[Config], Awaitable[Sequence[trio.SocketListener]]]
"""Opens listening sockets beside those of the API."""


async def no_further_port(_config: Config) -> Sequence[trio.SocketListener]:
    """Open none: the API's ports are all."""
    return ()


async def serve_in_this_process(prepared: Prepared, ready: Callable[[Ready], None], stop: trio.Event) -> None:
    """Run one node in this process."""
    config = prepared.config
    allow_files(open_files(config))
    tune_interpreter()
    node = node_name(config.api.node_name)

    def started(_tree: tree.Tree) -> None:
        ready(prepared.ready())

    certificate = certificate_of(config.tls)
    endpoint = Endpoint(prepared.listeners, certificate=certificate)
    if certificate is not None:
        prepared.hangup.reload = certificate.reload
    async with trio.open_nursery() as nursery:
        nursery.start_soon(on_signal, signal.SIGUSR1, log_everything)
        await tree.run(config, prepared.dsn, node, endpoint, stop, started, prepared.others)
        nursery.cancel_scope.cancel()


async def on_signal(number: signal.Signals, act: Callable[[], None]) -> None:
    """Call a function for each signal of a kind, until cancelled. Without this, the signal ends the process."""
    with trio.open_signal_receiver(number) as signals:
        async for _ in signals:
            act()


def configure_logs(config: Config, **always: str) -> None:
    """Log as the settings say. Every line has the fields `always`."""
    logs.configure(
        config.log_format,
        config.log_level,
        levels=levels.parse(config.log_levels or ""),
        exception_texts=config.log_exception_texts,
        always=always,
    )


def log_everything() -> None:
    """Log everything from `debug` on, or no longer. It needs no database, in contrast to levels by logger."""
    everything = not logs.LEVELS.everything
    logs.LEVELS.set_everything(everything)
    log.warning("the log has everything now" if everything else "the log has its usual levels again")


async def up(
    config: Config,
    *,
    ready: Callable[[Ready], None] = lambda _ready: None,
    migrating: Callable[[Migration, int, int], None] | None = None,
    stop: trio.Event | None = None,
    listen: Listen = no_further_port,
    serve: Serve = serve_in_this_process,
) -> None:
    """Serve until SIGTERM or SIGINT, or until `stop` is set. A second signal ends the program at once.

    All ports are opened before the database is touched.

    Raises:
        StartupProblem: PostgreSQL does not fit; the message says why, and what to do.
        EmbeddedPostgresError: the embedded PostgreSQL cannot start.
        MigrationError: the schema cannot be migrated.
        IncompatibleVersion: a running node has a version that cannot work together with this one.
        ListenError: the port is not available.
        NotProtected: others could reach a server without authentication.
        CertificateProblem: the certificate of TLS cannot be used.
        Escalated: too many failures of the program's tasks.
    """
    access.check(config)
    certificate_of(config.tls)
    background.check(config)
    stop, hangup = trio.Event() if stop is None else stop, Hangup()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_on_signal, stop, nursery.cancel_scope)
        nursery.start_soon(hangup.run, stop)
        listeners = await open_all(config.api)
        further: Sequence[trio.SocketListener] = ()
        try:
            further = await listen(config)
            port = listeners[0].socket.getsockname()[1]
            config = replace(config, api=replace(config.api, port=port))
            async with AsyncExitStack() as held:
                async with _unless(stop):
                    dsn, children = await held.enter_async_context(leased(config))
                    server = await prepare(dsn, config, migrating)
                    await configure_task_listeners(dsn, config.user_tasks)
                    await access.make_first_admin(dsn, config.auth)
                    await access.warn_of_taken_names(dsn, config.auth)
                    if config.tenants.enabled:
                        config = await separate_tenants(dsn, config)
                    config = replace(config, partitions=await make_partitions(dsn, config.partitions))
                    config = await connection_budget.fit(dsn, config)
                    warn_of_memory(config)
                if not stop.is_set():
                    await serve(Prepared(config, dsn, server, listeners, children, hangup, further), ready, stop)
        finally:
            for listener in (*listeners, *further):
                listener.socket.close()
        nursery.cancel_scope.cancel()


async def open_all(api: ApiSettings) -> Sequence[trio.SocketListener]:
    """The listening sockets of the API's port, and then those of the port for gRPC. Raises ListenError."""
    listeners = await open_listeners(api.host, api.port)
    if not api.grpc_port:
        return listeners
    try:
        return [*listeners, *await open_listeners(api.host, api.grpc_port)]
    except ListenError as error:
        for listener in listeners:
            listener.socket.close()
        raise ListenError(f"{error} (setting api.grpc_port, the further port for clients of gRPC)") from error


@asynccontextmanager
async def _unless(stop: trio.Event) -> AsyncGenerator[None]:
    """Run the block, and cancel it as soon as `stop` is set."""

    async def watch() -> None:
        await stop.wait()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        yield
        nursery.cancel_scope.cancel()


async def separate_tenants(dsn: str, config: Config) -> Config:
    """Put the tables under row-level security. Returns the settings with the URL of the second role.

    Raises:
        StartupProblem: there is no such role, or row-level security does not hold for it.
    """
    url = config.database.reader_url
    connection = await driver.connect(dsn, name="vivero:row-security")
    try:
        if config.database.url is None:
            await row_security.make_reader(connection)
            url = row_security.reader_of(dsn)
        if url is None:
            raise row_security.NotSeparated(
                f"multi-tenancy reads with a second role of your database: {row_security.ADVICE}"
            )
        await row_security.prepare(connection, url)
    finally:
        connection.close()
    return replace(config, database=replace(config.database, reader_url=url))


async def configure_task_listeners(dsn: str, settings: UserTaskSettings) -> None:
    """Give the cluster the task listeners of the settings. The program that starts last decides."""
    listeners = settings.all_listeners()
    connection = await driver.connect(dsn, name="vivero:task-listeners")
    try:
        changed = await task_listeners.configure(connection, listeners)
    finally:
        connection.close()
    if changed:
        log.info("the cluster now has the task listeners of the settings")


async def make_partitions(dsn: str, asked: int) -> int:
    """Make the partitions of a new database. Returns the number of partitions, which an older database keeps."""
    connection = await driver.connect(dsn, name="vivero:partitions")
    try:
        count = await leadership.create(connection, asked)
    finally:
        connection.close()
    if count > asked:
        log.info("the database keeps its number of partitions, which is higher", partitions=count, asked=asked)
    elif count < asked:
        log.warning(
            "the number of partitions is set when the database is created: "
            "`vivero partitions raise` raises it while the engine runs",
            partitions=count,
            asked=asked,
        )
    return count


def warn_of_memory(config: Config) -> None:
    """Warn if the machine has less memory than the processes may use."""
    if (warning := budget.too_little_memory(config)) is not None:
        log.warning("the budget of memory is short", why=warning)


def node_name(given: str | None = None, process: str | None = None) -> str:
    """A name that is unique to this process: the given name or the host, the process id and a random part.

    With several processes of one program, `process` is the name of this one in it.

    A partition's leader is recorded by its name, so a second program with this name would believe that it leads. The
    random part is necessary because process ids are reused.
    """
    part = "" if process is None else f"#{process}"
    return f"{given or socket.gethostname()}{part}-{os.getpid()}-{secrets.token_hex(4)}"


def open_files(config: Config) -> int:
    """The number of files that a node may have open."""
    return config.http.max_connections + config.http.reserved_connections + OTHER_FILES


def allow_files(needed: int) -> None:
    """Raise the limit of open files to `needed`, as far as the system permits. Shells often set 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warning(
            "the limit of open files is too low for the connections: raise it with ulimit -n",
            allowed=allowed,
            needed=needed,
        )


def tune_interpreter() -> None:
    """Exempt all existing objects from garbage collection, make collections rare, and let threads give way soon."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def address(config: Config) -> str:
    """The program's URL for clients on this machine."""
    host = "localhost" if config.api.host in ("", "0.0.0.0", "::", "127.0.0.1") else config.api.host
    scheme = "http" if config.tls.certificate is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{config.api.port}"


async def _stop_on_signal(stop: trio.Event, everything: trio.CancelScope) -> None:
    first = 0.0
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            if stop.is_set():
                if trio.current_time() < first + SAME_SIGNAL_S:
                    continue
                log.warning("stopping at once", signal=signal.Signals(number).name)
                everything.cancel()
                return
            log.info("stopping", signal=signal.Signals(number).name)
            first = trio.current_time()
            stop.set()
