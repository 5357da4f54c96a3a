"""The embedded server as a program uses it."""

import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import psycopg
import pytest
import trio

from vivero import embedded


def test_a_test_database_is_a_copy_of_the_template(ask, database, template_database, postgres_dsn) -> None:
    assert ask(database, "SELECT current_database()").startswith("test_")
    assert ask(database, "SHOW fsync") == "off"
    assert ask(postgres_dsn, f"SELECT count(*) FROM pg_database WHERE datname = '{template_database}'") == 1


@pytest.mark.parametrize("round", [1, 2])
def test_a_test_database_is_fresh_each_time(database, round) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE left_behind ()")


def test_a_lease_says_what_it_leases(ask, postgres_root, postgres_dsn) -> None:
    with embedded.acquire(postgres_root, embedded.DEVELOPMENT) as lease:
        assert lease.dsn == postgres_dsn
        assert lease.settings["fsync"] == "off", "whoever came first decides the settings"
        assert ask(lease.dsn, "SHOW server_version").split()[0] == lease.version
        assert not lease.is_lost()


def test_the_database_is_vivero_in_utf8_sorted_by_bytes(ask, postgres_dsn) -> None:
    assert ask(postgres_dsn, "SELECT current_database()") == "vivero"
    assert ask(postgres_dsn, "SHOW server_encoding") == "UTF8"
    assert ask(postgres_dsn, "SELECT datcollate FROM pg_database WHERE datname = current_database()") == "C"
    assert ask(postgres_dsn, "SHOW timezone") == "UTC"


def test_files_of_the_wal_are_small(ask, postgres_dsn) -> None:
    """All commits wait while one is made."""
    assert ask(postgres_dsn, "SHOW wal_segment_size") == "4MB"


def test_the_server_listens_on_no_network(ask, postgres_dsn) -> None:
    assert ask(postgres_dsn, "SHOW listen_addresses") == ""


def test_only_the_owner_can_reach_the_sockets(postgres_root) -> None:
    assert stat.S_IMODE((postgres_root / "run").stat().st_mode) == 0o700


def test_database_url_names_the_running_server(ask, postgres_root, postgres_dsn, monkeypatch) -> None:
    monkeypatch.setenv("PGPORT", "1")  # must not lead psql to another socket
    url = embedded.database_url(postgres_root)
    assert url == postgres_dsn
    assert url is not None
    assert url.startswith("postgresql:///vivero?host=/")
    assert ask(url, "SELECT 1") == 1


def test_database_url_starts_and_makes_nothing(tmp_path) -> None:
    assert embedded.database_url(tmp_path / "root") is None
    assert not (tmp_path / "root").exists()


async def test_acquiring_does_not_block_the_event_loop(postgres_root, postgres_dsn) -> None:
    acquire = partial(embedded.acquire, postgres_root, embedded.TEST)
    with await trio.to_thread.run_sync(acquire) as lease:
        assert lease.dsn == postgres_dsn


async def test_a_lease_can_be_watched_by_the_event_loop(postgres_root, postgres_dsn) -> None:
    with await trio.to_thread.run_sync(partial(embedded.acquire, postgres_root, embedded.TEST)) as lease:
        with trio.move_on_after(0) as waited:
            await trio.lowlevel.wait_readable(lease)
        assert waited.cancelled_caught


def test_a_root_that_is_a_file_is_refused(tmp_path) -> None:
    (tmp_path / "root").write_text("")
    with pytest.raises(embedded.EmbeddedPostgresError, match="root"):
        embedded.acquire(tmp_path / "root", embedded.TEST)


def test_development_is_durable() -> None:
    assert embedded.DEVELOPMENT.durable
    assert embedded.DEVELOPMENT.parameters["synchronous_commit"] == "on"
    assert "full_page_writes" not in embedded.DEVELOPMENT.parameters
    assert not embedded.TEST.durable


def test_settings_survive_the_way_to_the_supervisor() -> None:
    there = embedded.Settings.from_json(embedded.DEVELOPMENT.to_json())
    assert dict(there.parameters) == dict(embedded.DEVELOPMENT.parameters)
    assert there.grace_s == embedded.DEVELOPMENT.grace_s


def test_a_setting_is_a_name_and_not_an_option() -> None:
    with pytest.raises(embedded.EmbeddedPostgresError, match="'-h'"):
        embedded.Settings({"-h": "0.0.0.0"})


def test_the_supervisor_imports_the_standard_library_only() -> None:
    """Every start of a server waits for these imports."""
    program = "import sys; before = set(sys.modules); import vivero.embedded.supervisor; "
    program += "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "selectors" in listed
    assert set(listed) - sys.stdlib_module_names == {"vivero"}
    assert not {"asyncio", "logging", "typing_extensions", "multiprocessing"} & set(listed)


@pytest.mark.parametrize(("configured", "expected"), [("/data", "/data/vivero"), ("", "/home/ana/.local/share/vivero")])
def test_the_default_root_follows_the_xdg_specification(monkeypatch, configured, expected) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", configured)
    monkeypatch.setenv("HOME", "/home/ana")
    assert embedded.default_root() == Path(expected)


def test_the_default_root_of_root(monkeypatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert embedded.default_root() == Path("/var/lib/vivero")
