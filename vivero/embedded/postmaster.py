"""The data directory, and the postmaster as a direct child process.

`pg_ctl` is not used, because it gives up on a long recovery and hides the exit status.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from vivero.embedded.binaries import Installation
from vivero.embedded.errors import EmbeddedPostgresError
from vivero.embedded.layout import DATABASE, PORT, Layout
from vivero.embedded.processes import dying_with_us, is_postmaster, orphaned_backends
from vivero.embedded.settings import Settings

_POLL_S = 0.005
_RETRY_S = 0.1
_FAST_SHUTDOWN_S = 60.0  # for the checkpoint; after it the shutdown is immediate, and the next start recovers
_ORPHANS_S = 10.0  # for processes that end without a signal
_QUIT_S = 3.0  # for processes that got a signal
_MAX_LOG = 16 * 1024 * 1024  # bytes
_STATUS_LINE = 7  # in postmaster.pid, see LOCK_FILE_LINE_PM_STATUS in PostgreSQL's pidfile.h
_SHARED_MEMORY_IN_USE = "pre-existing shared memory block"  # "… is still in use"
_LEFT_FILE = re.compile('FATAL:  could not create file "[^"]+": File exists')
"""A rollback of CREATE UNLOGGED TABLE deletes the init fork at once. The main fork stays until the next checkpoint.
If PostgreSQL crashes before the rollback is in the WAL, its recovery makes the init fork again, and fails to copy it
over the main fork. The next recovery finds both, and begins by deleting the main fork."""
_UNFINISHED = "unfinished-"


def data_majors(layout: Layout) -> set[int]:
    """The major versions of the data directories."""
    found = (path.parent.name.removeprefix("data-") for path in layout.postgres.glob("data-*/PG_VERSION"))
    return {int(major) for major in found if major.isdigit()}


WAL_SEGMENT_MB = 4
"""Commits wait while a new WAL file is filled with zeros and flushed: 30 to 120 ms for 16 MB, 12 ms for 4 MB."""


def make_data_directory(layout: Layout, installation: Installation, settings: Settings) -> None:
    """Run initdb in a temporary directory, and rename that, so that no incomplete data directory is ever used.

    The only database is `vivero`. Its locale is C, so that no index depends on the version of libc.
    """
    for leftover in layout.postgres.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(leftover, ignore_errors=True)  # the server of a killed initdb may still write there
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=layout.postgres))
    # Trust is safe because the server is reachable only through the sockets' directory, whose mode is 0700.
    options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", f"--wal-segsize={WAL_SEGMENT_MB}"]
    if not settings.durable:
        options += ["--no-sync"] + (["--no-data-checksums"] if installation.major >= 18 else [])
    _run([installation.initdb, "-D", unfinished, *options])
    # Renaming initdb's database takes 0.05 s; creating another one takes 0.2 s.
    rename = f"ALTER DATABASE postgres RENAME TO {DATABASE};\n"
    _run([installation.postgres, "--single", "-D", unfinished, "template1"], rename)
    unfinished.rename(layout.data(installation.major))


def _run(command: list[str | Path], statement: str = "") -> None:
    done = subprocess.run(
        command,
        input=statement,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(),
        cwd="/",
        preexec_fn=dying_with_us(),
        check=False,
    )
    # The exit status of a single-user server does not tell whether a statement failed.
    if done.returncode != 0 or (statement and "ERROR:" in done.stdout):
        raise EmbeddedPostgresError(f"{command[0]} failed with status {done.returncode}:\n{done.stdout.strip()}")


def _environment() -> dict[str, str]:
    # LC_ALL: the code searches the messages. TZ: without it, initdb compares all time zones.
    return dict(os.environ) | {"LC_ALL": "C", "TZ": "UTC"}


def start_postmaster(
    layout: Layout, installation: Installation, settings: Settings, log: Callable[[str], None]
) -> subprocess.Popen[bytes]:
    """Start a postmaster and wait until it accepts connections, however long its recovery takes."""
    data = layout.data(installation.major)
    predecessor = _pid_in(data / "postmaster.pid")
    _end_predecessor(predecessor, data, log)
    _end_orphans(data, log)
    for stale in layout.run.glob(f".s.PGSQL.{PORT}*"):
        stale.unlink()
    limit_log(layout.server_log)
    environment = _environment()
    if predecessor:
        # The pid in the file may belong to another program by now. The postmaster ignores the pid only if it is its
        # grandparent's. Never delete the file: the postmaster needs it to check that no old process uses the shared
        # memory.
        environment["PG_GRANDPARENT_PID"] = str(predecessor)
    try:
        return _start_after_orphans(layout, installation, settings, environment)
    except EmbeddedPostgresError as error:
        if not _LEFT_FILE.search(str(error)):
            raise
    log("starting PostgreSQL again: its recovery failed at a file of an unlogged table, which the next one deletes")
    return _start_after_orphans(layout, installation, settings, environment)


def _start_after_orphans(
    layout: Layout, installation: Installation, settings: Settings, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    deadline = time.monotonic() + _ORPHANS_S
    while True:
        try:
            return _try_start(layout, installation, settings, environment)
        except EmbeddedPostgresError as error:
            if _SHARED_MEMORY_IN_USE not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)  # until the remaining processes of a killed postmaster end


def _try_start(
    layout: Layout, installation: Installation, settings: Settings, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    log_start = layout.server_log.stat().st_size if layout.server_log.exists() else 0
    started = _spawn(layout, installation, settings, environment)
    while not _is_ready(started.pid, layout.data(installation.major) / "postmaster.pid"):
        if started.poll() is not None:
            output = layout.server_log.read_bytes()[log_start:].decode("utf-8", "replace").strip()
            raise EmbeddedPostgresError(f"PostgreSQL ended at its start with status {started.returncode}:\n{output}")
        time.sleep(_POLL_S)
    return started


def _spawn(
    layout: Layout, installation: Installation, settings: Settings, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    where: list[str | Path] = ["-D", layout.data(installation.major), "-k", layout.run, "-h", "", "-p", str(PORT)]
    parameters = [f"--{name}={value}" for name, value in settings.parameters.items()]
    with layout.server_log.open("ab") as output:
        return subprocess.Popen(
            [installation.postgres, *where, *parameters],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # SIGINT requests a fast shutdown, so that the server stops cleanly if this process is killed.
            preexec_fn=dying_with_us(signal.SIGINT),
        )


def _is_ready(pid: int, pid_file: Path) -> bool:
    lines = _lines(pid_file)
    return len(lines) > _STATUS_LINE and lines[0] == str(pid) and lines[_STATUS_LINE].strip() == "ready"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().split("\n")
    except FileNotFoundError:
        return []


def _pid_in(pid_file: Path) -> int | None:
    lines = _lines(pid_file)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _end_predecessor(pid: int | None, data: Path, log: Callable[[str], None]) -> None:
    """Stop the postmaster of a killed supervisor."""
    if pid is None or not is_postmaster(pid, data):
        return
    log(f"stopping postmaster {pid} of a killed supervisor")
    for sent, patience_s in ((signal.SIGINT, _FAST_SHUTDOWN_S), (signal.SIGQUIT, _ORPHANS_S)):
        os.kill(pid, sent)
        if _wait_while(partial(is_postmaster, pid, data), patience_s):
            return
    raise EmbeddedPostgresError(f"postmaster {pid} on {data} does not stop: kill it, and try again")


def _end_orphans(data: Path, log: Callable[[str], None]) -> None:
    """Stop the backends of a killed postmaster. Most of them end by themselves, but not one that is computing."""
    for pid in orphaned_backends(data):
        log(f"stopping backend {pid} of a killed postmaster")
        _kill_nowait(pid, signal.SIGQUIT)
    if _wait_while(lambda: any(orphaned_backends(data)), _QUIT_S):
        return
    for pid in orphaned_backends(data):
        _kill_nowait(pid, signal.SIGKILL)  # safe: the postmaster is dead, and the next one recovers from the WAL
    if not _wait_while(lambda: any(orphaned_backends(data)), _QUIT_S):
        raise EmbeddedPostgresError(f"backends of a killed postmaster on {data} do not end: kill them, and try again")


def _kill_nowait(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except ProcessLookupError:
        return  # it has ended


def _wait_while(condition: Callable[[], bool], patience_s: float) -> bool:
    """Wait until `condition` is false; False if it still holds after `patience_s` seconds."""
    deadline = time.monotonic() + patience_s
    while condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def limit_log(server_log: Path) -> None:
    """Copy a large log to `server.log.1` and truncate it.

    The postmaster may be writing. It appends, so it continues at the start of the file. Lines that it writes between
    the copy and the truncation are lost.
    """
    if server_log.exists() and server_log.stat().st_size > _MAX_LOG:
        shutil.copyfile(server_log, server_log.with_name("server.log.1"))
        os.truncate(server_log, 0)


def stop_postmaster(running: subprocess.Popen[bytes]) -> None:
    """Stop the postmaster by a fast shutdown. If that hangs, stop it at once; the next start then recovers."""
    if running.poll() is not None:
        return
    running.send_signal(signal.SIGINT)
    try:
        running.wait(_FAST_SHUTDOWN_S)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGQUIT)
        running.wait()
