"""The files of an embedded server.

<root>/boot.lock        held by the program that is starting a server
<root>/supervisor.lock  held by the supervisor as long as it lives
<root>/supervisor.log
<root>/run/             sockets (a link to a short private directory if the path would be too long)
<root>/postgres/        owned by the user that the server runs as
    data-18/            the data directory, named by PostgreSQL's major version
    server.log
    deaths              the times of the server's recent deaths
<root>/bin/             only as root: copies of binaries that the server's user cannot access
"""

import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from vivero.embedded.errors import EmbeddedPostgresError
from vivero.embedded.server_user import server_uids

DATABASE = "vivero"
PORT = 5432  # names the socket; the server never listens on TCP
_MAX_SOCKET_PATH = 103  # bytes: sun_path has 104 on macOS and 108 on Linux, including the terminating zero


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    run: Path

    @property
    def boot_lock(self) -> Path:
        return self.root / "boot.lock"

    @property
    def supervisor_lock(self) -> Path:
        return self.root / "supervisor.lock"

    @property
    def supervisor_log(self) -> Path:
        return self.root / "supervisor.log"

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def server_log(self) -> Path:
        return self.postgres / "server.log"

    @property
    def deaths(self) -> Path:
        return self.postgres / "deaths"

    @property
    def lease_socket(self) -> Path:
        return self.run / "lease.sock"

    def data(self, major: int) -> Path:
        return self.postgres / f"data-{major}"

    def dsn(self, database: str = DATABASE) -> str:
        """A URL for psql and psycopg. It has the port, because PGPORT would otherwise select another socket."""
        return f"postgresql:///{database}?host={quote(str(self.run), safe='/')}&port={PORT}&user=postgres"


def default_root() -> Path:
    """/var/lib/vivero as root, otherwise `$XDG_DATA_HOME/vivero` (XDG Base Directory Specification)."""
    if os.geteuid() == 0:
        return Path("/var/lib/vivero")
    configured = os.environ.get("XDG_DATA_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else Path.home() / ".local" / "share"
    return base / "vivero"


def open_layout(root: Path | None) -> Layout:
    """The layout at `root`. Creates missing directories, and never changes existing ones."""
    # Processes are recognised by the path of their data directory, so the path must be unique.
    path = (root or default_root()).resolve()
    try:
        _make_root(path)
        return Layout(path, _run_directory(path))
    except OSError as error:
        raise EmbeddedPostgresError(f"cannot use {path} as the data directory: {error}") from error


def _make_root(root: Path) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    try:
        root.mkdir()
    except FileExistsError:
        owner = root.stat().st_uid
        if owner != os.geteuid():
            raise EmbeddedPostgresError(
                f"the data directory {root} belongs to user id {owner}: run as that user, or choose another directory"
            ) from None
    else:
        # Under root, the server's user must be able to pass through to its own directories.
        root.chmod(0o711 if os.geteuid() == 0 else 0o700)


def _run_directory(root: Path) -> Path:
    run = root / "run"
    if run.is_symlink():  # the first program created it; TMPDIR may differ between programs
        return _private(Path(os.readlink(run)))
    if _fits(run):
        return _private(run)
    target = _private(_short_directory(root))
    run.symlink_to(target)
    return target


def _fits(run: Path) -> bool:
    return len(os.fsencode(run / f".s.PGSQL.{PORT}")) <= _MAX_SOCKET_PATH


def _short_directory(root: Path) -> Path:
    name = f"vivero-{os.geteuid()}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
    for base in (tempfile.gettempdir(), "/tmp"):
        if _fits(Path(base) / name):
            return Path(base) / name
    raise EmbeddedPostgresError(
        f"the paths {root} and {tempfile.gettempdir()} are too long for a Unix socket: choose a shorter data directory"
    )


def _private(directory: Path) -> Path:
    """Create `directory`, or check that only we may enter it: access to its sockets gives a superuser's rights."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise EmbeddedPostgresError(f"{directory} is not a directory") from None
        if found.st_uid not in {os.geteuid(), *server_uids()}:
            raise EmbeddedPostgresError(
                f"{directory} belongs to user id {found.st_uid}, but this program runs as user id {os.geteuid()}"
            ) from None
        if found.st_mode & 0o077:
            raise EmbeddedPostgresError(f"other users may enter {directory}: set its mode to 0700") from None
    return directory
