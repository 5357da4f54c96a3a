"""As root: PostgreSQL refuses to run, so a user that exists already runs it.

No user is created and no directory that is not ours is opened up. What that user cannot reach is copied, and a data
root that it cannot reach is refused.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from vivero.embedded.binaries import Installation
from vivero.embedded.errors import EmbeddedPostgresError

_CANDIDATES = ("postgres", "nobody")  # it needs a passwd entry: initdb looks its own name up


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _candidates() -> list[pwd.struct_passwd]:
    return [entry for name in _CANDIDATES if (entry := _entry(name)) is not None]


def server_uids() -> frozenset[int]:
    """The user ids that may own a server started by root; empty for everybody else."""
    return frozenset(entry.pw_uid for entry in _candidates()) if os.geteuid() == 0 else frozenset()


def server_user(postgres_dir: Path) -> pwd.struct_passwd:
    """Who owns the data already, else `postgres`, else `nobody`."""
    candidates = _candidates()
    if not candidates:
        raise EmbeddedPostgresError(f"root cannot run PostgreSQL, and there is no user {' or '.join(_CANDIDATES)}")
    if postgres_dir.exists():
        owner = postgres_dir.stat().st_uid
        for entry in candidates:
            if entry.pw_uid == owner:
                return entry
    return candidates[0]


def give_directory(directory: Path, user: pwd.struct_passwd) -> None:
    """Make `directory` private to the server's user; one that exists must be root's (ours) or that user's already."""
    directory.mkdir(mode=0o700, exist_ok=True)
    owner = directory.lstat().st_uid
    if owner not in {0, user.pw_uid}:
        raise EmbeddedPostgresError(f"{directory} belongs to user id {owner}, neither root nor {user.pw_name}")
    os.chown(directory, user.pw_uid, user.pw_gid, follow_symlinks=False)


def reachable_installation(found: Installation, copies: Path, user: pwd.struct_passwd) -> Installation:
    """`found` if the server's user can run it, else a copy of it below `copies`.

    The usual case is a virtual environment below root's home.
    """
    if _can_run(found.postgres, user):
        return found
    copied = _copy(found, copies)
    if not _can_run(copied.postgres, user):
        raise EmbeddedPostgresError(
            f"user {user.pw_name} cannot run {copied.postgres}: as root choose a data directory outside root's home"
        )
    return copied


def _can_run(binary: Path, user: pwd.struct_passwd) -> bool:
    try:
        run = subprocess.run(
            [binary, "--version"],
            cwd="/",
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except PermissionError:
        return False
    return run.returncode == 0


def _copy(found: Installation, copies: Path) -> Installation:
    """Copy `<package>/<prefix>` and `<package>.libs` side by side: binaries find their libraries relative to it."""
    prefix = found.bin.parent
    package = prefix.parent
    origin = hashlib.sha256(f"{found.postgres} {found.postgres.stat().st_mtime_ns}".encode()).hexdigest()[:8]
    target = copies / f"{found.version}-{origin}"
    copied = Installation(target / package.name / prefix.name / "bin", found.version)
    if not target.exists():
        shutil.rmtree(copies, ignore_errors=True)  # copies of older versions, or a copy cut short
        unfinished = copies / "unfinished"
        _copy_tree(prefix, unfinished / package.name / prefix.name)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            _copy_tree(libraries, unfinished / libraries.name)
        _open_up(copies)
        unfinished.rename(target)
    return copied


def _copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))


def _open_up(copies: Path) -> None:
    """Readable for all: `copies` is ours, and what is in it is published software."""
    for directory, _, files in os.walk(copies):
        os.chmod(directory, 0o755)
        for path in (Path(directory, file) for file in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def become(user: pwd.struct_passwd, home: Path) -> None:
    """Give up root for good; `home` is where the server's user has something of its own."""
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ["HOME"] = str(home)
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        raise EmbeddedPostgresError(
            f"user {user.pw_name}, who runs PostgreSQL for root, cannot reach {home}: "
            "as root choose a data directory outside root's home, such as /var/lib/vivero"
        )
