"""The user that runs the server: an ordinary one, or for root another than root."""

import os
import pwd
import shutil
import signal
import stat
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.eventually import eventually_sync
from vivero import embedded
from vivero.embedded import server_user
from vivero.embedded.binaries import BIN_VARIABLE, find_installation
from vivero.embedded.locks import exclusive

pytestmark = pytest.mark.process
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")


def modes(*paths: Path) -> dict[Path, int]:
    """The modes of the paths and of every directory above them."""
    return {above: above.stat().st_mode for path in paths for above in [path, *path.parents]}


def owners(directory: Path) -> set[int]:
    """The owners of the files in a directory, whose server may be deleting some of them."""
    found = set()
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                found.add(Path(folder, name).lstat().st_uid)
    return found


@pytest.mark.long
def test_an_ordinary_user(ask, nobody, reachable_directory, start_program) -> None:
    home = reachable_directory()
    os.chown(home, nobody.uid, -1)
    root = home / ".local" / "share" / "vivero"
    program = start_program(root, nobody.python, user=nobody.uid, extra_groups=[], env=nobody.environment)
    dsn = program.stdout.readline().strip()
    assert ask(dsn, "SELECT 1") == 1
    assert owners(home) == {nobody.uid}
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    with pytest.raises(embedded.EmbeddedPostgresError, match=f"user id {nobody.uid}: run as that user"):
        embedded.acquire(root)
    program.stdin.close()
    program.wait()
    embedded_stopped(root)


def embedded_stopped(root: Path) -> None:
    """`wait_stopped` refuses another user's root, rightly; as root we may look at the lock itself."""
    with exclusive(root / "supervisor.lock", time.monotonic() + 10):
        pass


@pytest.mark.long
def test_an_ordinary_user_cannot_share_a_server_of_root(nobody, root, quick, start_program, tmp_path) -> None:
    with embedded.acquire(root, quick), (tmp_path / "errors").open("w") as errors:
        refused = start_program(root, nobody.python, user=nobody.uid, env=nobody.environment, stderr=errors)
        assert refused.wait() == 1
    assert "belongs to user id 0: run as that user" in (tmp_path / "errors").read_text()


@as_root
def test_root_hands_the_server_to_a_user_who_exists(root, quick, server_at) -> None:
    with embedded.acquire(root, quick):
        there = server_at(root)
        chosen = server_user.server_user(there.data.parent)
        assert chosen.pw_name in {"postgres", "nobody"}
        assert Path(f"/proc/{there.postmaster}").stat().st_uid == chosen.pw_uid
        assert Path(f"/proc/{there.supervisor}").stat().st_uid == chosen.pw_uid
        assert owners(there.data) == {chosen.pw_uid}


@as_root
def test_nobody_runs_the_server_where_there_is_no_user_postgres(
    ask, reachable_directory, quick, monkeypatch, server_at
):
    spoiler = "import sys; from vivero.embedded import server_user as u; u._CANDIDATES = ('nobody',); "
    run = "from vivero.embedded.supervisor import main; main(sys.argv[1:])"
    monkeypatch.setattr("vivero.embedded.client._SUPERVISOR", ["-c", spoiler + run])
    root = reachable_directory() / "root"
    with embedded.acquire(root, quick) as lease:
        assert ask(lease.dsn, "SELECT 1") == 1
        assert owners(server_at(root).data) == {pwd.getpwnam("nobody").pw_uid}
    embedded.wait_stopped(root)
    monkeypatch.undo()
    with embedded.acquire(root, quick):  # who owns the data goes on running it
        assert Path(f"/proc/{server_at(root).postmaster}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
    embedded.wait_stopped(root)


@as_root
def test_a_root_inside_a_closed_directory_is_refused_and_left_closed(tmp_path, quick) -> None:
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    before = modes(closed)
    with pytest.raises(embedded.EmbeddedPostgresError, match="choose a data directory outside root's home"):
        embedded.acquire(closed / "data", quick)
    embedded.wait_stopped(closed / "data")
    assert modes(closed) == before


@pytest.mark.long
@as_root
def test_binaries_out_of_reach_are_copied_and_left_closed(
    ask, tmp_path, reachable_directory, quick, monkeypatch, server_at
) -> None:
    """A virtual environment below root's home."""
    found = find_installation()
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    package = found.bin.parent.parent
    shutil.copytree(found.bin.parent, closed / package.name / found.bin.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, closed / libraries.name)
    monkeypatch.setenv(BIN_VARIABLE, str(closed / package.name / found.bin.parent.name / "bin"))
    before = modes(closed, Path(os.environ[BIN_VARIABLE]))

    root = reachable_directory() / "root"
    for _ in range(2):  # the second start uses the copy of the first
        with embedded.acquire(root, quick) as lease:
            assert ask(lease.dsn, "SELECT 1") == 1
            [copy] = (root / "bin").iterdir()
            executable = Path(f"/proc/{server_at(root).postmaster}/exe").readlink()
            assert executable.is_relative_to(copy)
        embedded.wait_stopped(root)
    assert modes(closed, Path(os.environ[BIN_VARIABLE])) == before


@as_root
def test_nothing_is_imported_after_root_is_given_up(root, quick, monkeypatch, server_at) -> None:
    """The server's user may not be able to read the libraries: in a start, a restart, an end and a failure."""
    tell = """
import sys
from vivero.embedded import supervisor

class Tell:
    def find_spec(self, name, path=None, target=None):
        supervisor.log(f"late import of {name}")

def become(*arguments, original=supervisor.become, **named):
    sys.meta_path.insert(0, Tell())
    original(*arguments, **named)

supervisor.become = become
supervisor.main(sys.argv[1:])
"""
    monkeypatch.setattr("vivero.embedded.client._SUPERVISOR", ["-c", tell])
    with embedded.acquire(root, quick):
        there = server_at(root)
        first = there.postmaster
        os.kill(first, signal.SIGKILL)
        eventually_sync(lambda: there.postmaster, accept=lambda found: found != first)
    embedded.wait_stopped(root)
    with pytest.raises(embedded.EmbeddedPostgresError, match="shared_buffers"):
        embedded.acquire(root, embedded.Settings({"shared_buffers": "much"}))
    assert "late import" not in there.log


def test_starting_changes_no_directory_above(root, quick) -> None:
    installed = find_installation().bin
    before = modes(installed, root.parent)
    with embedded.acquire(root, quick):
        assert modes(installed, root.parent) == before
