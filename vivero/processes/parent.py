"""The parent of several processes: starts them, restarts them, serves the admin port, and stops them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import structlog
import trio

from vivero import logs
from vivero.api.http1.listeners import ListenError, open_listeners
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving import server
from vivero.api.serving.server import Endpoint
from vivero.api.serving.tls_settings import TlsSettings
from vivero.config.sections import Config
from vivero.core.texts.hosts import is_loopback
from vivero.engine.siblings.records import fits
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.supervision.watchdog import Watchdog
from vivero.node import stopping
from vivero.processes import admin, connection_counts
from vivero.processes.channel import Begin
from vivero.processes.child_process import ChildProcess, deaths
from vivero.processes.connection_counts import ConnectionCounts
from vivero.program import program
from vivero.program.access import NotProtected
from vivero.program.program import Prepared, Ready
from vivero.storage.schema.migration_files import Migration

log = structlog.get_logger(__name__)

ADMIN_HTTP = ServerSettings(max_connections=50, reserved_connections=5, drain_grace_s=1.0)
PREFIX = "vivero-"
"""The beginning of the name of the directory with the processes' sockets."""
MORE_GRACE_S = 5.0
"""The time beyond its own limit that a process may take to stop; then it is killed."""


async def up(
    config: Config,
    *,
    ready: Callable[[Ready], None],
    migrating: Callable[[Migration, int, int], None] | None = None,
) -> None:
    """Run the program with several processes. A taken admin port is told before the database is touched.

    Raises what `program.up` raises, and:
        ListenError: the admin port is not available.
        NotProtected: others could reach the admin port.
    """
    await program.up(config, ready=ready, migrating=migrating, listen=_open_admin, serve=_serve)


async def _serve(prepared: Prepared, ready: Callable[[Ready], None], stop: trio.Event) -> None:
    """Run the processes until `stop` is set, and then let them finish their requests.

    Raises Escalated: the processes died too often, or too many failures of the parent's own tasks.
    """
    with (
        connection_counts.create(prepared.config.processes) as counts,
        TemporaryDirectory(prefix=PREFIX, dir=sockets_base(), ignore_cleanup_errors=True) as siblings,
    ):
        await _supervise(prepared, counts.fileno(), Path(siblings), ready, stop)


def sockets_base() -> Path:
    """The directory for temporary files, or `/tmp` if its path is too long for sockets."""
    usual = Path(gettempdir())
    return usual if fits(usual / f"{PREFIX}12345678") else Path("/tmp")


async def _open_admin(config: Config) -> list[trio.SocketListener]:
    if not (is_loopback(config.admin.host) or config.auth.insecure):
        raise NotProtected(
            f"the admin port has no authentication and listens on loopback only, not on '{config.admin.host}': set "
            "admin.host to 127.0.0.1, or give --insecure if every client that can reach it may do everything"
        )
    try:
        return await open_listeners(config.admin.host, config.admin.port)
    except ListenError as error:
        raise ListenError(f"{error} (setting admin.port, for the admin port of several processes)") from error


async def _supervise(
    prepared: Prepared,
    counts: int,
    siblings: Path,
    ready: Callable[[Ready], None],
    stop: trio.Event,
) -> None:
    """`siblings`: a directory that only this user can enter, for the sockets of the processes."""
    config = prepared.config
    all_serve = _AllServe(config.processes, partial(ready, prepared.ready(_url(config, prepared.further))))
    processes = _processes(prepared, counts, siblings, all_serve)
    drain = trio.Event()

    application = admin.build(
        admin.Admin(processes, lambda: supervisor.health(), config.chaos), replace(config.api, host=config.admin.host)
    )

    async def serve_admin(beat: Beat) -> None:
        await server.serve(application, Endpoint(prepared.further), settings=ADMIN_HTTP, drain=drain, beat=beat.beat)

    supervisor = Supervisor(
        [
            Child("admin", serve_admin, drain=drain.set),
            *(Child(f"{admin.PREFIX}{one.name}", one.run, drain=one.drain) for one in processes),
            *prepared.others,
        ],
        config.supervision,
    )
    if config.tls.certificate is not None:
        prepared.hangup.reload = partial(_reload, processes)
    watchdog = Watchdog(config.supervision.blocked_after_s)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(program.on_signal, signal.SIGUSR1, partial(_log_everything, processes))
        nursery.start_soon(_stop, supervisor, processes, stop, config.drain_s, nursery.cancel_scope)
        with watchdog.thread(), LoopProbe().watching():
            nursery.start_soon(watchdog.run)
            await supervisor.run()
        nursery.cancel_scope.cancel()


def _log_everything(processes: Sequence[ChildProcess]) -> None:
    program.log_everything()
    for process in processes:
        process.log_everything(logs.LEVELS.everything)


def _reload(processes: Sequence[ChildProcess]) -> None:
    for process in processes:
        process.reload()


class _AllServe:
    """Calls a function once, when each process has reported that it serves clients."""

    def __init__(self, count: int, then: Callable[[], None]) -> None:
        self._missing = {str(number) for number in range(1, count + 1)}
        self._then = then

    def serves(self, name: str) -> None:
        if name in self._missing:
            self._missing.discard(name)
            if not self._missing:
                self._then()


def _processes(prepared: Prepared, counts: int, siblings: Path, all_serve: _AllServe) -> list[ChildProcess]:
    """The processes, named by numbers from 1."""
    config, counter = prepared.config, deaths(prepared.config.supervision)
    shown = ConnectionCounts(counts, config.processes, 0)
    descriptors = [listener.socket.fileno() for listener in prepared.listeners]
    begins = [
        Begin(
            str(index + 1),
            each,
            prepared.dsn,
            [] if index < config.engine_processes else descriptors,
            counts,
            index,
            siblings,
        )
        for index, each in enumerate(config.of_each_process)
    ]
    return [ChildProcess(begin, shown, counter, partial(all_serve.serves, begin.name)) for begin in begins]


def _url(config: Config, listeners: Sequence[trio.SocketListener]) -> str:
    port = listeners[0].socket.getsockname()[1]
    return program.address(
        replace(config, tls=TlsSettings(), api=replace(config.api, host=config.admin.host, port=port))
    )


async def _stop(
    supervisor: Supervisor,
    processes: Sequence[ChildProcess],
    stop: trio.Event,
    drain_s: float,
    everything: trio.CancelScope,
) -> None:
    """Let the processes that serve clients finish at the same time, and then the engines, which their requests need."""
    await stop.wait()
    log.info("stopping: the processes finish open requests", grace_s=drain_s)
    for serve in (True, False):
        seconds = _longest_s(drain_s, serve)
        latest = trio.current_time() + seconds
        async with trio.open_nursery() as nursery:
            for process in processes:
                if process.serves_clients == serve:
                    nursery.start_soon(supervisor.stop, f"{admin.PREFIX}{process.name}", seconds, latest)
    await supervisor.stop("admin", ADMIN_HTTP.drain_grace_s)
    everything.cancel()


def _longest_s(drain_s: float, serve: bool) -> float:
    return stopping.longest_s(drain_s, serve) + MORE_GRACE_S


def longest_stop_s(config: Config) -> float:
    """Seconds on the clock in which all processes have ended at the latest."""
    kinds = {index >= config.engine_processes for index in range(config.processes)}
    return sum(_longest_s(config.drain_s, serve) for serve in kinds) + ADMIN_HTTP.drain_grace_s
