"""The program around the tree: which PostgreSQL, is it fit, is its schema current, where to listen, when to stop."""

from __future__ import annotations

import gc
import os
import resource
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import structlog
import trio

from vivero import embedded, tree
from vivero.api.http1.listeners import open_listeners
from vivero.config import Config
from vivero.embedded import Lease
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.supervision.children import Child
from vivero.engine.runtime.supervision.failures import Escalated
from vivero.storage.postgres import checks, driver, migrate
from vivero.storage.postgres.checks import Server
from vivero.storage.postgres.migrate import Migration

log = structlog.get_logger(__name__)

GC_THRESHOLDS = (5_000, 800, 50)
"""Rows of live trees are in circles and live long: looking for garbage seldom costs nothing but a little memory. What
ends or is forgotten is taken apart, so that it is no garbage; and to look through all that is held takes a tenth of a
second, in which nobody is served. To look at what is new takes a millisecond or two; at 20,000 objects it took six."""

OTHER_FILES = 200
"""Open files beside those of connections: the database's sockets, listeners, pipes, logs, deployed files."""
ONE_SIGNAL_S = 0.2
"""Signals so close are one: `timeout` and terminals tell the program, and its process group once more."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What is true once clients are served."""

    address: str
    dsn: str
    server: Server
    embedded: bool
    tree: tree.Tree


async def up(
    config: Config,
    *,
    ready: Callable[[Ready], None] = lambda _ready: None,
    migrating: Callable[[Migration, int, int], None] | None = None,
    stop: trio.Event | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT (or `stop`). A second signal ends at once.

    Raises:
        StartupProblem: PostgreSQL is not fit for us; says why, and what to do.
        EmbeddedError: the embedded PostgreSQL cannot be started.
        MigrationError: the schema cannot be brought up to date.
        ListenError: the port cannot be had.
        Escalated: the program could not help itself.
    """
    stop = trio.Event() if stop is None else stop
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_on_signal, stop, nursery.cancel_scope)
        allow_files(config.http.max_connections + config.http.reserved_connections + OTHER_FILES)
        listeners = await open_listeners(config.api.host, config.api.port)
        try:
            port = listeners[0].socket.getsockname()[1]
            node = node_name(config.api.node_name)
            config = replace(config, api=replace(config.api, port=port))
            async with AsyncExitStack() as held:
                async with _unless(stop):
                    dsn, children = await held.enter_async_context(database(config))
                    server = await prepare(dsn, config, migrating)
                if not stop.is_set():
                    tune_collector()
                    started = partial(_ready, ready, config, dsn, server)
                    await tree.run(config, dsn, node, listeners, stop, started, children)
        finally:
            for listener in listeners:
                listener.socket.close()
        nursery.cancel_scope.cancel()


def _ready(ready: Callable[[Ready], None], config: Config, dsn: str, server: Server, built: tree.Tree) -> None:
    ready(Ready(address(config), dsn, server, config.database.url is None, built))


@asynccontextmanager
async def _unless(stop: trio.Event) -> AsyncGenerator[None]:
    """Do the block, or leave it as soon as `stop` is set."""

    async def watch() -> None:
        await stop.wait()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        yield
        nursery.cancel_scope.cancel()


async def prepare(dsn: str, config: Config, migrating: Callable[[Migration, int, int], None] | None = None) -> Server:
    """Check that PostgreSQL is fit for us, and bring the schema up to date."""
    server = await checks.check(dsn, allow_unsafe_commits=config.database.allow_unsafe_commits)
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:
        await migrate.migrate(connection, progress=migrating)
    finally:
        connection.close()
    return server


async def pending(dsn: str, config: Config) -> list[Migration]:
    """Check that PostgreSQL is fit for us, and say what `prepare` would do to the schema."""
    await checks.check(dsn, allow_unsafe_commits=config.database.allow_unsafe_commits)
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:
        return await migrate.pending(connection)
    finally:
        connection.close()


@asynccontextmanager
async def database(config: Config) -> AsyncGenerator[tuple[str, list[Child]]]:
    """The DSN of the user's PostgreSQL, or of the embedded one, which is held for the length of the block.

    With the DSN come the children that look after it.
    """
    if config.database.url is not None:
        yield config.database.url, []
        return
    keeper = Keeper(config.database.data_dir)
    try:
        yield await keeper.hold(), [Child("postgres", keeper.run)]
    finally:
        keeper.release()


class Keeper:
    """Holds the lease of the embedded PostgreSQL: restarts a supervisor that was killed, resumes a stopped one.

    A server that keeps dying ends the program: whoever started that must see it.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._lease: Lease | None = None

    async def hold(self) -> str:
        """The server's DSN, once it runs. A lease that comes too late, after a cancellation, is let go."""
        self._lease = await trio.to_thread.run_sync(embedded.acquire, self._root, abandon_on_cancel=True)
        return self._lease.dsn

    async def run(self, beat: Beat) -> None:
        """Wait for the loss of the lease, and get another. The DSN stays the same, being made of the root."""
        while True:
            lease = self._lease
            if lease is None or lease.is_lost():
                log.warning("the embedded PostgreSQL is gone: starting it again")
                self.release()
                with beat.waiting(60.0):
                    await self._hold_again()
            elif lease.is_stopped():
                log.error("the supervisor of the embedded PostgreSQL was stopped: resuming it")
                lease.resume()
            await beat.sleep(0.25)

    async def _hold_again(self) -> None:
        try:
            await self.hold()
        except embedded.GivenUp as given_up:
            raise Escalated(str(given_up)) from given_up

    def release(self) -> None:
        if self._lease is not None:
            self._lease.close()
            self._lease = None


def node_name(given: str | None = None) -> str:
    """Unique to this process: what was given, or the host; the process id; and a random part, for ids are used again.

    Unique, because a partition is led by name: a second program of the same name would take the lead for its own.
    """
    return f"{given or socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def allow_files(needed: int) -> None:
    """Raise the limit of open files, as far as the system lets us: shells often set 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warning("fewer files may be open than connections need", allowed=allowed, needed=needed)


def tune_collector() -> None:
    """What was made so far stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def address(config: Config) -> str:
    """The URL at which this machine reaches the program."""
    host = "localhost" if config.api.host in ("", "0.0.0.0", "::", "127.0.0.1") else config.api.host
    return f"http://{f'[{host}]' if ':' in host else host}:{config.api.port}"


async def _stop_on_signal(stop: trio.Event, everything: trio.CancelScope) -> None:
    first = 0.0
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            if stop.is_set():
                if trio.current_time() < first + ONE_SIGNAL_S:
                    continue
                log.warning("stopping at once", signal=signal.Signals(number).name)
                everything.cancel()
                return
            log.info("stopping", signal=signal.Signals(number).name)
            first = trio.current_time()
            stop.set()
