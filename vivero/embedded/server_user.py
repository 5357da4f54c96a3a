"""The server's user under root: PostgreSQL does not run as root, so an existing user runs it.

The code creates no user and changes no permissions of foreign directories. Binaries that the user cannot access are
copied. A data root that the user cannot access is an error.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from vivero.embedded.binaries import Installation
from vivero.embedded.errors import EmbeddedPostgresError

_CANDIDATES = ("postgres", "nobody")  # the user needs a passwd entry, because initdb looks up its own name


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _candidates() -> list[pwd.struct_passwd]:
    return [entry for name in _CANDIDATES if (entry := _entry(name)) is not None]


def server_uids() -> frozenset[int]:
    """The user ids that may own a server started by root; empty for other users."""
    return frozenset(entry.pw_uid for entry in _candidates()) if os.geteuid() == 0 else frozenset()


def server_user(postgres_dir: Path) -> pwd.struct_passwd:
    """The user that owns the data, otherwise `postgres`, otherwise `nobody`. Raises EmbeddedPostgresError."""
    candidates = _candidates()
    if not candidates:
        raise EmbeddedPostgresError(
            f"root cannot run PostgreSQL, and there is no user {' or '.join(_CANDIDATES)}: run as another user"
        )
    if postgres_dir.exists():
        owner = postgres_dir.stat().st_uid
        for entry in candidates:
            if entry.pw_uid == owner:
                return entry
    return candidates[0]


def give_directory(directory: Path, user: pwd.struct_passwd) -> None:
    """Make `directory` private to the server's user. An existing one must belong to root or to that user."""
    directory.mkdir(mode=0o700, exist_ok=True)
    owner = directory.lstat().st_uid
    if owner not in {0, user.pw_uid}:
        raise EmbeddedPostgresError(f"{directory} belongs to user id {owner}: it must belong to root or {user.pw_name}")
    os.chown(directory, user.pw_uid, user.pw_gid, follow_symlinks=False)


def reachable_installation(found: Installation, copies: Path, user: pwd.struct_passwd) -> Installation:
    """`found` if the server's user can run it, otherwise a copy in `copies`.

    A copy is necessary for a virtual environment in root's home directory.
    """
    if _can_run(found.postgres, user):
        return found
    copied = _copy(found, copies)
    if not _can_run(copied.postgres, user):
        raise EmbeddedPostgresError(
            f"user {user.pw_name} cannot run {copied.postgres}: choose a data directory outside root's home directory"
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
    """Copy `<package>/<prefix>` and `<package>.libs` side by side: binaries find libraries by their relative paths."""
    prefix = found.bin.parent
    package = prefix.parent
    origin = hashlib.sha256(f"{found.postgres} {found.postgres.stat().st_mtime_ns}".encode()).hexdigest()[:8]
    target = copies / f"{found.version}-{origin}"
    copied = Installation(target / package.name / prefix.name / "bin", found.version)
    if not target.exists():
        shutil.rmtree(copies, ignore_errors=True)  # copies of older versions, or an incomplete copy
        unfinished = copies / "unfinished"
        _copy_tree(prefix, unfinished / package.name / prefix.name)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            _copy_tree(libraries, unfinished / libraries.name)
        _make_readable(copies)
        unfinished.rename(target)
    return copied


def _copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))


def _make_readable(copies: Path) -> None:
    """Make all files readable for all users: `copies` is our directory and contains published software."""
    for directory, _, files in os.walk(copies):
        os.chmod(directory, 0o755)
        for path in (Path(directory, file) for file in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def become(user: pwd.struct_passwd, home: Path) -> None:
    """Drop root's rights for good. `home` is a directory of the server's user."""
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ["HOME"] = str(home)
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        raise EmbeddedPostgresError(
            f"user {user.pw_name}, who runs PostgreSQL for root, cannot access {home}: "
            "choose a data directory outside root's home directory, such as /var/lib/vivero"
        )
