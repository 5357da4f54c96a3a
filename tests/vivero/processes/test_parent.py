"""The parent's refusals before it starts processes."""

import socket
import tempfile
from pathlib import Path

import pytest
import trio

from vivero.api.http1.listeners import ListenError
from vivero.api.settings import ApiSettings
from vivero.config.processes import AdminSettings
from vivero.config.sections import Config
from vivero.processes import parent
from vivero.program import program
from vivero.program.access import NotProtected


async def start(**admin):
    """A start that has no database: refusals come before."""
    with trio.fail_after(20):
        await parent.up(Config(processes=2, api=ApiSettings(port=0), admin=AdminSettings(**admin)), ready=pytest.fail)


@pytest.fixture(autouse=True)
def database_is_not_touched(monkeypatch):
    monkeypatch.setattr(program, "leased", lambda config: pytest.fail("the database comes later"))


async def test_the_admin_port_is_not_for_other_machines():
    with pytest.RaisesGroup(
        pytest.RaisesExc(NotProtected, match=r"not on '0\.0\.0\.0': set admin\.host to 127\.0\.0\.1")
    ):
        await start(host="0.0.0.0")


async def test_a_taken_admin_port_is_named_by_its_setting():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.RaisesGroup(
            pytest.RaisesExc(ListenError, match=rf"port {port} of 127\.0\.0\.1: .* \(setting admin\.port")
        ):
            await start(port=port)


def test_sockets_do_not_lie_behind_a_path_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    assert parent.sockets_base() == Path("/var/tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 80)))
    assert parent.sockets_base() == Path("/tmp")
