"""Directories and pids that are not what they seem."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.eventually import eventually_sync
from vivero.embedded import EmbeddedPostgresError, processes
from vivero.embedded.layout import open_layout
from vivero.embedded.postmaster import limit_log
from vivero.embedded.processes import is_postmaster, orphaned_backends


@pytest.fixture
def temporary(monkeypatch) -> Iterator[Path]:
    """A temporary directory of this test's own, with a short path: pytest's grow with every run."""
    with tempfile.TemporaryDirectory(prefix="vt-") as directory:
        monkeypatch.setattr("tempfile.gettempdir", lambda: directory)
        yield Path(directory)


@pytest.fixture
def deep(tmp_path, temporary) -> Path:
    """A data root whose path is too long for a socket."""
    return tmp_path / ("deep" * 30)


def test_a_short_path_keeps_its_sockets(tmp_path) -> None:
    assert open_layout(tmp_path / "root").run == tmp_path / "root" / "run"


def test_a_long_path_gets_a_short_directory_of_its_own(deep, tmp_path, temporary) -> None:
    run = open_layout(deep).run
    assert run.parent == temporary
    assert run.stat().st_mode & 0o777 == 0o700
    assert open_layout(deep).run == run
    assert open_layout(tmp_path / ("else" * 30)).run != run


def test_a_short_directory_that_was_cleaned_away_is_made_again(deep) -> None:
    open_layout(deep).run.rmdir()
    assert open_layout(deep).run.is_dir()


def test_a_directory_open_to_others_is_not_used(deep) -> None:
    open_layout(deep).run.chmod(0o755)
    with pytest.raises(EmbeddedPostgresError, match="mode to 0700"):
        open_layout(deep)


def test_a_link_in_the_place_of_the_directory_is_not_followed(deep, tmp_path) -> None:
    run = open_layout(deep).run
    run.rmdir()
    run.symlink_to(tmp_path)
    with pytest.raises(EmbeddedPostgresError, match="not a directory"):
        open_layout(deep)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_not_used(deep) -> None:
    os.chown(open_layout(deep).run, 12345, -1)
    with pytest.raises(EmbeddedPostgresError, match="belongs to user id 12345"):
        open_layout(deep)


def test_a_link_to_a_root_is_the_same_root(tmp_path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "root")
    assert open_layout(tmp_path / "root") == open_layout(tmp_path / "link")


def test_the_url_escapes_what_a_path_may_contain(tmp_path) -> None:
    assert "host=" + str(tmp_path) + "/a%20b%26c/run&" in open_layout(tmp_path / "a b&c").dsn()


@pytest.fixture(params=["proc", "ps"])
def seen_through(request, monkeypatch, tmp_path) -> None:
    if request.param == "ps":
        monkeypatch.setattr(processes, "_PROC", tmp_path)  # as where there is no /proc
    elif not Path("/proc/self").exists():
        pytest.skip("no /proc here")


def sleeping(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """A program that calls itself `arguments` and waits for the end of its standard input."""
    program = subprocess.Popen(
        [*arguments], executable="/bin/cat", cwd=cwd, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )

    def name() -> str:
        assert program.poll() is None
        return "".join(psutil.Process(program.pid).cmdline()).replace(" ", "")

    # The kernel names a program a moment after it has begun to run.
    eventually_sync(name, accept=lambda found: found == "".join(arguments).replace(" ", ""))
    return program


@pytest.mark.usefixtures("seen_through")
def test_only_a_live_postgres_on_the_data_directory_is_its_postmaster(tmp_path) -> None:
    data = tmp_path / "data-18"
    # cat would read the directory's path as a file and end: "-" has it wait for its input first.
    with sleeping("/usr/lib/postgres", "-", str(data)) as postmaster, sleeping("/bin/cat", "-", str(data)) as other:
        assert is_postmaster(postmaster.pid, data)
        assert not is_postmaster(postmaster.pid, tmp_path / "data-1")
        assert not is_postmaster(other.pid, data)
        postmaster.kill()
        os.waitid(os.P_PID, postmaster.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie now
        assert not is_postmaster(postmaster.pid, data)
        other.communicate()
    assert not is_postmaster(postmaster.pid, data)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells where a process runs")
@pytest.mark.parametrize(
    ("called", "found"),
    [("postgres: checkpointer ", True), ("/usr/lib/postgres", True), ("/bin/cat", False), ("postgresql-editor", False)],
)
def test_an_orphan_is_a_postgres_that_runs_in_the_data_directory(tmp_path, called, found) -> None:
    (tmp_path / "data-18").mkdir()
    with sleeping(called, cwd=tmp_path / "data-18") as orphan, sleeping(called, cwd=tmp_path) as other:
        assert list(orphaned_backends(tmp_path / "data-18")) == ([orphan.pid] if found else [])
        orphan.communicate()
        other.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a parent's death")
def test_a_child_whose_parent_died_too_early_dies_too() -> None:
    program = "import os, signal; from vivero.embedded.processes import die_with; die_with(1 << 30, signal.SIGINT)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL


def test_a_large_log_is_put_aside(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("vivero.embedded.postmaster._MAX_LOG", 3)
    log = tmp_path / "server.log"
    limit_log(log)
    for text in ("old", "older than new", "new"):
        log.write_text(text)
        limit_log(log)
    assert log.read_text() == "new"
    assert (tmp_path / "server.log.1").read_text() == "older than new"
