"""The programs' side: join the server of a data root, or start it.

A lease is an open connection to the supervisor. The kernel closes it when the program dies, so a kill -9 leaves
nothing to clean up.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from vivero.embedded.errors import EmbeddedPostgresError, GivenUp, StartTimeout
from vivero.embedded.layout import Layout, default_root, open_layout
from vivero.embedded.locks import exclusive
from vivero.embedded.processes import is_stopped
from vivero.embedded.settings import DEVELOPMENT, Settings

_MAX_GREETING = 65536  # bytes
_SUPERVISOR = ["-m", "vivero.embedded"]
_PACKAGE_HOME = Path(__file__).resolve().parents[2]


class ServerLease:
    """The right to use the server, which runs as long as any lease is open.

    `dsn` is the URL of the database `vivero` and does not change when the server restarts. `version` is the server's,
    such as "18.4". `settings` are those of the program that started the server. Forked children share the lease.
    """

    __slots__ = ("_socket", "_supervisor", "dsn", "settings", "version")

    def __init__(self, connection: socket.socket, greeting: Mapping[str, Any]) -> None:
        self._socket = connection
        self.dsn: str = greeting["dsn"]
        self._supervisor: int = greeting["supervisor"]
        self.version: str = greeting["version"]
        self.settings: Mapping[str, str] = greeting["settings"]

    def fileno(self) -> int:
        """A descriptor that becomes readable when supervisor and server are gone. Then acquire a new lease."""
        return self._socket.fileno()

    def is_lost(self) -> bool:
        try:
            return self._socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def is_stopped(self) -> bool:
        """True if the supervisor is stopped (SIGSTOP). Nothing then restarts the server if it dies."""
        return not self.is_lost() and is_stopped(self._supervisor)

    def resume(self) -> None:
        """Resume a stopped supervisor. Raises OSError if that is not permitted."""
        os.kill(self._supervisor, signal.SIGCONT)

    def close(self) -> None:
        """End the lease. After the last lease the server stops, with a delay of `Settings.grace_s`."""
        self._socket.close()

    def __enter__(self) -> "ServerLease":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def acquire(root: Path | None = None, settings: Settings = DEVELOPMENT, timeout: float = 60.0) -> ServerLease:
    """Join the server at `root` (default: `default_root()`). Starts it if it is not running.

    Blocks for up to `timeout` seconds, then raises StartTimeout. Raises EmbeddedPostgresError for failures that a
    second attempt does not solve.
    """
    layout = open_layout(root)
    deadline = time.monotonic() + timeout
    with exclusive(layout.boot_lock, deadline):
        return _join(layout, deadline) or _start(layout, settings, deadline)


def database_url(root: Path | None = None, timeout: float = 5.0) -> str | None:
    """The URL of the running server at `root`, for psql; None if none is running. Does not start one."""
    if not (root or default_root()).exists():
        return None
    lease = _join(open_layout(root), time.monotonic() + timeout)
    if lease is None:
        return None
    with lease:
        return lease.dsn


def has_data(root: Path | None = None) -> bool:
    """Whether there is a data directory at `root`. Changes nothing there."""
    return any(((root or default_root()) / "postgres").glob("data-*/PG_VERSION"))


def wait_stopped(root: Path | None = None, timeout: float = 60.0) -> None:
    """Block until no server runs at `root`, so that its files may be copied or deleted. Raises StartTimeout."""
    with exclusive(open_layout(root).supervisor_lock, time.monotonic() + timeout):
        pass


def _join(layout: Layout, deadline: float) -> ServerLease | None:
    """A lease from the running supervisor; None if there is none, or if it is stopping."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(layout.lease_socket))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise EmbeddedPostgresError(f"cannot reach the server at {layout.root}: {error}") from error
    return _lease(connection, layout, deadline)


def _start(layout: Layout, settings: Settings, deadline: float) -> ServerLease:
    ours, theirs = socket.socketpair()
    with theirs:
        _spawn_supervisor(layout, settings, theirs)
    lease = _lease(ours, layout, deadline)
    if lease is None:
        raise EmbeddedPostgresError(f"the supervisor died at its start; its log:\n{_tail(layout.supervisor_log)}")
    return lease


def _spawn_supervisor(layout: Layout, settings: Settings, lease: socket.socket) -> None:
    """Start `python -m vivero.embedded`, which detaches itself, so that this program has no child process."""
    search_path = [str(_PACKAGE_HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
    with layout.supervisor_log.open("ab") as log:
        os.fchmod(log.fileno(), 0o600)
        started = subprocess.run(
            [sys.executable, "-P", *_SUPERVISOR, str(layout.root), str(lease.fileno()), settings.to_json()],
            pass_fds=[lease.fileno()],
            start_new_session=True,
            cwd="/",  # any other working directory would be busy as long as the server runs
            env=os.environ | {"PYTHONPATH": os.pathsep.join(search_path)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    if started.returncode != 0:
        raise EmbeddedPostgresError(f"the supervisor did not start; its log:\n{_tail(layout.supervisor_log)}")


def _lease(connection: socket.socket, layout: Layout, deadline: float) -> ServerLease | None:
    """Read the supervisor's greeting, a line of JSON that it sends when the server is ready. None: it is stopping."""
    try:
        line = _read_line(connection, deadline)
    except TimeoutError:
        connection.close()
        raise StartTimeout(
            f"PostgreSQL at {layout.root} is not ready yet: see {layout.server_log}, and try again later"
        ) from None
    except BaseException:
        connection.close()
        raise
    if not line:
        connection.close()
        return None
    greeting = json.loads(line)
    if "error" in greeting:
        connection.close()
        raise (GivenUp if greeting.get("given_up") else EmbeddedPostgresError)(greeting["error"])
    connection.settimeout(None)
    return ServerLease(connection, greeting)


def _read_line(connection: socket.socket, deadline: float) -> bytes:
    """Read up to the end of a line. Empty if the supervisor closes the connection before that."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _MAX_GREETING:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            more = connection.recv(_MAX_GREETING)
        except ConnectionError:
            return b""
        if not more:
            return b""
        line += more
    return line


def _tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
