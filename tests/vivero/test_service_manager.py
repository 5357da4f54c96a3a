"""The messages to systemd."""

import socket

import pytest

from vivero.program import service_manager


@pytest.fixture
def manager(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.setblocking(False)
        yield heard


def test_it_hears_that_the_program_is_ready(manager, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", manager.getsockname())
    service_manager.notify("READY=1")
    assert manager.recv(100) == b"READY=1"


def test_a_name_that_is_no_file_is_abstract(monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind("")  # Linux chooses a name
        heard.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + heard.getsockname()[1:].decode())
        service_manager.notify("READY=1")
        assert heard.recv(100) == b"READY=1"


def test_a_manager_that_is_gone_does_not_stop_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nowhere"))
    service_manager.notify("READY=1")
    monkeypatch.delenv("NOTIFY_SOCKET")
    service_manager.notify("READY=1")
