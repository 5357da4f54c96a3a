"""The supervisor process of a data root's server: starts the postmaster, counts leases, stops it after the last one.

The supervisor is the postmaster's parent and single-threaded. It imports few modules, because every start waits for
it, and all of them at its start: under root it later becomes a user who may be unable to read the libraries.
"""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from vivero.embedded.binaries import Installation, find_installation
from vivero.embedded.deaths import Deaths
from vivero.embedded.errors import EmbeddedPostgresError, GivenUp
from vivero.embedded.layout import Layout, open_layout
from vivero.embedded.locks import exclusive
from vivero.embedded.postmaster import data_majors, limit_log, make_data_directory, start_postmaster, stop_postmaster
from vivero.embedded.server_user import become, give_directory, reachable_installation, server_user
from vivero.embedded.settings import Settings

_PREDECESSOR_S = 90.0  # longer than the timeout of a fast shutdown
_MAX_LEASES = 500
_LOG_CHECK_INTERVAL_S = 60.0
_MAX_LOG = 1024 * 1024  # bytes

Postmaster = subprocess.Popen[bytes]


def main(arguments: list[str]) -> None:
    """Run the supervisor. `arguments`: the data root, the file descriptor of the first lease, the settings as JSON."""
    root, lease_fd, settings = Path(arguments[0]), int(arguments[1]), Settings.from_json(arguments[2])
    if os.fork():
        os._exit(0)  # so that the starting program has no child to wait for
    first = socket.socket(fileno=lease_fd)
    for terminating in (signal.SIGTERM, signal.SIGINT):
        signal.signal(terminating, _terminate)
    try:
        with ExitStack() as held:
            listener, server = _boot(root, settings, first, held)
            serve(listener, first, server, settings.grace_s)
            log("stopping: there are no leases")
    except (EmbeddedPostgresError, OSError):
        log(traceback.format_exc())
        sys.exit(1)


def log(text: str) -> None:
    """Write a line to standard error, which is supervisor.log."""
    print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), f"[{os.getpid()}]", text, file=sys.stderr, flush=True)


def _limit_own_log() -> None:
    """Truncate a large log. The server's user may write to it but not rename it."""
    if os.fstat(sys.stderr.fileno()).st_size > _MAX_LOG:
        os.ftruncate(sys.stderr.fileno(), 0)
        log("this log was truncated because of its size")


def _terminate(number: int, _frame: object) -> None:
    """Stop the server cleanly, even if there are leases: the machine shuts down, or a person stops the server."""
    for terminating in (signal.SIGTERM, signal.SIGINT):
        signal.signal(terminating, signal.SIG_IGN)
    log(f"stopping on signal {number}")
    raise SystemExit(0)


def _boot(root: Path, settings: Settings, first: socket.socket, held: ExitStack) -> tuple[socket.socket, "Server"]:
    """Start a server and wait until it accepts connections. `held` undoes all steps. `first` is told of a failure."""
    try:
        layout = open_layout(root)
        held.enter_context(exclusive(layout.supervisor_lock, time.monotonic() + _PREDECESSOR_S))
        server = Server(layout, _prepare(layout), settings)
        server.deaths.check()
        held.callback(server.stop)
        # Listen before the server starts: if the starting program dies now, the next one joins this supervisor.
        listener = held.enter_context(_listen(layout.lease_socket))
        held.callback(partial(layout.lease_socket.unlink, missing_ok=True))
        server.make_data_directory()
        server.start()
    except (EmbeddedPostgresError, OSError) as error:
        text = f"the embedded PostgreSQL at {root}: {error}"
        _send(first, {"error": text, "given_up": isinstance(error, GivenUp)})
        raise
    return listener, server


def _prepare(layout: Layout) -> Installation:
    """Find the binaries. Under root, become the server's user."""
    installation = find_installation(data_majors(layout))
    if os.geteuid() != 0:
        layout.postgres.mkdir(mode=0o700, exist_ok=True)
        return installation
    user = server_user(layout.postgres)
    for directory in (layout.postgres, layout.run):
        give_directory(directory, user)
    installation = reachable_installation(installation, layout.root / "bin", user)
    become(user, home=layout.postgres)
    return installation


def _listen(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)  # a killed supervisor left it: this process holds the lock, so no other one is alive
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(128)
    return listener


class Server:
    """The postmaster, which is restarted when it dies. After too many deaths, the supervisor gives up."""

    __slots__ = ("_installation", "_layout", "_postmaster", "_settings", "deaths")

    def __init__(self, layout: Layout, installation: Installation, settings: Settings) -> None:
        self._layout = layout
        self._installation = installation
        self._settings = settings
        self._postmaster: Postmaster | None = None
        self.deaths = Deaths(layout.deaths)

    @property
    def greeting(self) -> dict[str, object]:
        """The message to a program with its lease."""
        return {
            "dsn": self._layout.dsn(),
            "supervisor": os.getpid(),
            "version": self._installation.version,
            "settings": dict(self._settings.parameters),
        }

    def make_data_directory(self) -> None:
        if not self._layout.data(self._installation.major).exists():
            make_data_directory(self._layout, self._installation, self._settings)

    def start(self) -> None:
        self._postmaster = start_postmaster(self._layout, self._installation, self._settings, log)
        log(f"PostgreSQL {self._installation.version} runs as process {self._postmaster.pid}")

    def stop(self) -> None:
        if self._postmaster is not None:
            stop_postmaster(self._postmaster)

    def restart_if_dead(self) -> None:
        """Restart the postmaster if it died. Programs keep their leases and reconnect with the same DSN."""
        if self._postmaster is None or self._postmaster.poll() is None:
            return
        log(f"the postmaster died with status {self._postmaster.returncode}: restarting it")
        self.deaths.record()
        self.start()

    def limit_log(self) -> None:
        """Truncate the server's log if it is large."""
        limit_log(self._layout.server_log)


def serve(listener: socket.socket, first: socket.socket, server: Server, grace_s: float) -> None:
    """Grant leases and keep the server alive until there is no lease for `grace_s` seconds."""
    leases: set[socket.socket] = set()
    with selectors.DefaultSelector() as selector, _child_alarm() as alarm:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(alarm, selectors.EVENT_READ)
        _admit(first, server, selector, leases)
        while (ready := selector.select(_LOG_CHECK_INTERVAL_S if leases else grace_s)) or leases:
            server.restart_if_dead()
            if not ready:
                server.limit_log()
                _limit_own_log()
            for source in (key.fileobj for key, _ in ready):
                if source is listener:
                    _admit(listener.accept()[0], server, selector, leases)
                elif source is alarm:
                    alarm.recv(64)
                elif isinstance(source, socket.socket) and _has_ended(source):
                    selector.unregister(source)
                    leases.remove(source)
                    source.close()


def _admit(lease: socket.socket, server: Server, selector: selectors.BaseSelector, leases: set[socket.socket]) -> None:
    if len(leases) >= _MAX_LEASES:
        _send(lease, {"error": f"{_MAX_LEASES} programs share this server, which is the limit: end one of them"})
        lease.close()
        return
    _send(lease, server.greeting)
    selector.register(lease, selectors.EVENT_READ)
    leases.add(lease)


def _send(lease: socket.socket, message: dict[str, object]) -> None:
    try:
        lease.sendall(json.dumps(message).encode() + b"\n")
    except ConnectionError:
        log("a program closed its connection before it got a lease")  # reading from the connection will show the same


def _has_ended(lease: socket.socket) -> bool:
    try:
        return lease.recv(64) == b""
    except ConnectionError:
        return True


@contextmanager
def _child_alarm() -> Iterator[socket.socket]:
    """A socket that becomes readable when a child ends, so that the supervisor notices a postmaster's death at once."""
    readable, written = socket.socketpair()
    with readable, written:
        written.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
        try:
            yield readable
        finally:
            signal.set_wakeup_fd(-1)
