"""Lock files. The kernel releases a lock when its holder dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vivero.embedded.errors import EmbeddedPostgresError, StartTimeout

_POLL_S = 0.005


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EmbeddedPostgresError(f"cannot lock {path}: {error}") from error


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(fd: int) -> str:
    return os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"


@contextmanager
def exclusive(path: Path, deadline: float) -> Iterator[None]:
    """Hold the lock at `path`. Waits for it until `deadline` (time.monotonic). The file contains the holder's pid.

    Raises StartTimeout.
    """
    fd = _open(path)
    try:
        while not _try_lock(fd):
            if time.monotonic() >= deadline:
                raise StartTimeout(f"process {_holder(fd)} holds {path} and does not finish")
            time.sleep(_POLL_S)  # flock has no timeout of its own
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(fd)
