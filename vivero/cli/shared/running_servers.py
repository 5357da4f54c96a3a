"""The servers that run on this machine as this user, by their addresses, and the database of each.

A server leaves a small file, which it locks for as long as it lives. So a command beside it finds its database by the
address that other commands use, and a file of a server that was killed is known as such. No password is written down.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import structlog

from vivero.config.sections import Config, DatabaseSettings
from vivero.core.texts.hosts import is_loopback
from vivero.embedded import default_root
from vivero.storage.postgres.conninfo import without_passwords
from vivero.storage.postgres.errors import InvalidDsn

log = structlog.get_logger(__name__)

EVERY_ADDRESS = ("0.0.0.0", "::", "")
"""Hosts of servers that listen on all addresses."""
MAX_BYTES = 65_536
"""The most bytes of a server's file that are read."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server's address and database: `url` without its password, or the directory of the embedded PostgreSQL."""

    address: str
    pid: int
    file: str | None
    """Its settings file."""
    data_dir: str | None
    url: str | None

    def has(self, database: DatabaseSettings) -> bool:
        """Whether these are the settings of the server's database, which may have its password, too."""
        if database.url is not None:
            try:
                return self.url == without_passwords(database.url)
            except InvalidDsn:
                return False
        return database.data_dir is not None and self.data_dir == str(database.data_dir.absolute())

    @property
    def place(self) -> str:
        """The database, for people."""
        return self.url if self.url is not None else f"data in {self.data_dir}"


def directory() -> Path:
    """`$XDG_STATE_HOME/vivero/servers` (XDG Base Directory Specification), or as root below /run."""
    configured = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(configured):
        base = Path(configured)
    elif os.geteuid() == 0:
        base = Path("/run")
    else:
        base = Path.home() / ".local" / "state"
    return base / "vivero" / "servers"


@contextmanager
def published(address: str, file: Path | None, config: Config) -> Iterator[None]:
    """Let commands of this user find the server while the block runs. Nothing depends on it, so it never fails."""
    held = None
    try:
        held = _publish(_of(address, file, config))
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        log.debug("commands beside this server will not find it by its address", exc_info=True)
    try:
        yield
    finally:
        if held is not None:
            _remove(*held)


def find(address: str) -> RunningServer | None:
    """The server that runs here with the address."""
    endpoint = _endpoint(address)
    return next((each for each in running() if _endpoint(each.address) == endpoint), None)


def running() -> list[RunningServer]:
    """All servers that run here as this user, by address."""
    found = [server for path in _files() if (server := _read(path)) is not None]
    return sorted(found, key=lambda server: server.address)


def others() -> str:
    """A sentence that names the servers that run here, or an empty text."""
    found = ", ".join(f"{server.address} ({server.place})" for server in running())
    return f" These run: {found}" if found else ""


def is_local(address: str) -> bool:
    """Whether the address is this machine's own."""
    return _endpoint(address)[0] == "localhost"


def _of(address: str, file: Path | None, config: Config) -> RunningServer:
    url, root = config.database.url, config.database.data_dir or default_root()
    return RunningServer(
        address=address,
        pid=os.getpid(),
        file=None if file is None else str(file.absolute()),
        data_dir=str(root.absolute()) if url is None else None,
        url=None if url is None else without_passwords(url),
    )


def _endpoint(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    host = parts.hostname or ""
    return "localhost" if is_loopback(host) or host in EVERY_ADDRESS else host, parts.port or (
        443 if parts.scheme == "https" else 80
    )


def _publish(server: RunningServer) -> tuple[Path, int]:
    """Write the file of a server, and return its path and the descriptor that holds its lock."""
    folder = directory()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours(folder):
        raise PermissionError(f"{folder} is another user's")
    for path in _files():
        if _read(path) is None:
            path.unlink(missing_ok=True)
    host, port = _endpoint(server.address)
    path = folder / f"{host.replace(':', '-')}-{port}.json"
    new = path.with_suffix(f".{server.pid}")
    new.unlink(missing_ok=True)  # of a killed server with the same process id
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, json.dumps(asdict(server)).encode())
        new.rename(path)
    except OSError:
        os.close(descriptor)
        raise
    return path, descriptor


def _remove(path: Path, descriptor: int) -> None:
    """Remove the server's file, but not that of another server, which may have the port since this one closed it."""
    try:
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            path.unlink()
    except OSError:
        log.debug("the file of this server cannot be removed", exc_info=True)
    finally:
        os.close(descriptor)


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can put a directory of his own, or a link, in its place: /run/vivero may be a service's."""
    statuses = [one.lstat() for one in (folder, folder.parent)]
    return all(stat.S_ISDIR(one.st_mode) and one.st_uid == os.geteuid() for one in statuses)


def _files() -> list[Path]:
    try:
        folder = directory()
        return sorted(folder.glob("*.json")) if _is_ours(folder) else []
    except (OSError, RuntimeError):
        return []


def _read(path: Path) -> RunningServer | None:
    """The server of a file, or None if it has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid != os.geteuid() or _is_free(descriptor):
            return None
        return RunningServer(**json.loads(os.read(descriptor, MAX_BYTES)))  # TypeError: not one of this version
    except (OSError, ValueError, TypeError):
        return None
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
