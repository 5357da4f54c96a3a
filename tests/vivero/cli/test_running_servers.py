"""Commands beside a server find its database by the address that other commands use, and say which they use."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from vivero.cli.shared import running_servers
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.running_servers import published
from vivero.cli.shared.settings import Database, database_in_use
from vivero.config.sections import Config

HERE = "http://localhost:18080"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Nobody else's servers, and no settings of the environment."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("VIVERO_ADDRESS", "CAMUNDA_REST_ADDRESS", "VIVERO_DATABASE_URL", "VIVERO_DATA_DIR", "VIVERO_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "state" / "vivero" / "servers"


def config(**database):
    usual = Config()
    return replace(usual, database=replace(usual.database, **database))


def chosen(address=None, file=None, data_dir=None, url=None):
    return Database(file, data_dir, url, address, is_in_use=True).settings().database


def test_the_database_is_the_servers(capsys):
    with published(HERE, None, config(data_dir=Path("/data/of/it"))):
        assert chosen(HERE).data_dir == Path("/data/of/it")
        assert chosen("http://127.0.0.1:18080").data_dir == Path("/data/of/it")
        assert capsys.readouterr().err == (f"using the database of the server at {HERE}: data in /data/of/it\n" * 2)
    assert running_servers.running() == []


def test_the_default_address_and_that_of_the_environment(monkeypatch):
    with published("http://localhost:8080", None, config(data_dir=Path("/a"))):
        assert chosen().data_dir == Path("/a")
        with published(HERE, None, config(data_dir=Path("/b"))):
            assert chosen().data_dir == Path("/a")
            monkeypatch.setenv("VIVERO_ADDRESS", HERE)
            assert chosen().data_dir == Path("/b")


def test_what_is_named_comes_first():
    with published("http://localhost:8080", None, config(data_dir=Path("/a"))):
        assert chosen(data_dir=Path("/mine")).data_dir == Path("/mine")
        assert chosen(url="postgresql://mine/x").url == "postgresql://mine/x"
        with pytest.raises(click.UsageError, match="leave out --address"):
            chosen("http://localhost:8080", url="postgresql://mine/x")
        assert Database(None, None, None).settings().database.data_dir is None


def test_no_password_is_written(state, tmp_path):
    url = "postgresql://ann:secret-word@db.example:5433/vivero?sslpassword=second-word"
    with published(HERE, None, config(url=url)):
        [file] = state.iterdir()
        assert "secret-word" not in file.read_text()
        assert "second-word" not in file.read_text()
        assert file.stat().st_mode & 0o077 == 0
        assert chosen(HERE).url == "user=ann dbname=vivero host=db.example port=5433"


def test_the_servers_own_file_has_the_password_and_the_rest(tmp_path):
    file = tmp_path / "vivero.toml"
    file.write_text('[database]\nurl = "postgresql://ann:secret-word@db/vivero"\n[retention]\narchive = "/archive"\n')
    with published(HERE, file, config(url="postgresql://ann:secret-word@db/vivero")):
        found = Database(None, None, None, HERE, is_in_use=True).settings()
    assert found.database.url == "postgresql://ann:secret-word@db/vivero"
    assert found.retention.archive == "/archive"


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ('url = "postgresql://ann:word@db/other"', {"url": "postgresql://ann:word@db/vivero"}),
        ('url = "postgresql://ann:word@db/other"', {"data_dir": Path("/data/of/it")}),
        ('data_dir = "relative"', {"data_dir": Path("/data/of/it")}),
        ('data_dir = "relative"', {"url": "postgresql://ann@db/vivero"}),
    ],
)
def test_what_options_of_the_server_named_comes_before_its_file(tmp_path, text, server):
    """Also a directory that the file names relatively to the server's working directory."""
    file = tmp_path / "vivero.toml"
    file.write_text(f"[database]\n{text}\n")
    with published(HERE, file, config(**server)):
        found = chosen(HERE)
    if "url" in server:
        assert found.url == "user=ann dbname=vivero host=db"
    else:
        assert (found.url, found.data_dir) == (None, server["data_dir"])


def test_a_server_that_ends_leaves_the_file_of_the_next_one(state):
    with ExitStack() as first:
        first.enter_context(published(HERE, None, config(data_dir=Path("/first"))))
        with published(HERE, None, config(data_dir=Path("/next"))):
            first.close()
            assert chosen(HERE).data_dir == Path("/next")
    assert list(state.iterdir()) == []


def test_nothing_is_read_or_removed_behind_a_link(state, tmp_path):
    """Another user, who owns the directory above, could put a link there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "important.json").write_text("{}")
    state.parent.mkdir(parents=True)
    state.symlink_to(elsewhere)
    with published(HERE, None, config(data_dir=Path("/a"))):
        assert running_servers.find(HERE) is None
    assert [path.name for path in elsewhere.iterdir()] == ["important.json"]


def test_a_server_that_was_killed_is_not_found_and_its_file_goes(state):
    with published(HERE, None, config(data_dir=Path("/killed"))):
        [file] = state.iterdir()
        left = file.read_text()
    file.write_text(left)  # without the lock, which ended with the process
    assert running_servers.find(HERE) is None
    with published("http://localhost:18081", None, config(data_dir=Path("/b"))):
        assert [path.name for path in state.iterdir()] == ["localhost-18081.json"]


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"address": "http://localhost:18080"}', '{"new": 1}'])
def test_a_file_that_cannot_be_read_is_nobodys(state, text):
    with published(HERE, None, config()):
        [file] = state.iterdir()
        with file.open("r+") as opened:  # the same inode, which is locked
            opened.truncate()
            opened.write(text)
        assert running_servers.find(HERE) is None


def test_a_server_that_is_not_here_is_an_error_that_names_those_that_are(monkeypatch):
    with published(HERE, None, config(data_dir=Path("/a"))):
        with pytest.raises(
            Failure, match=r"no server with the address http://localhost:1 runs here.*18080 \(data in /a\)"
        ):
            chosen("http://localhost:1")
        monkeypatch.setenv("VIVERO_ADDRESS", "https://engine.example")
        with pytest.raises(Failure, match=r"no server with the address https://engine\.example"):
            chosen()


def test_a_directory_that_cannot_be_written_stops_no_server(state):
    state.parent.parent.write_text("a file where the directory should be")
    with published(HERE, None, config()):
        assert running_servers.running() == []


def test_commands_get_the_option():
    @click.command()
    @database_in_use
    def look(database):
        click.echo(database.settings().database.data_dir)

    with published(HERE, None, config(data_dir=Path("/a"))):
        done = CliRunner().invoke(look, ["--address", HERE])
    assert (done.exit_code, done.stdout) == (0, "/a\n")
