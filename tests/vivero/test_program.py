"""The program around the tree: its embedded PostgreSQL, its name, its address."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests import plain_http
from tests.eventually import eventually_sync
from vivero.api.http1.listeners import ListenError
from vivero.config.sections import Config
from vivero.config.sources import load
from vivero.program import database, program
from vivero.program.ends import alone
from vivero.storage.schema.migration_files import read_migrations

GREET = Path(__file__).parents[2] / "examples" / "first" / "greet.bpmn"


def test_no_two_programs_have_one_name():
    names = {program.node_name() for _ in range(100)}
    assert len(names) == 100
    assert all(f"-{os.getpid()}-" in name for name in names)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "localhost"),
        ("0.0.0.0", "localhost"),
        ("::", "localhost"),
        ("", "localhost"),
        ("localhost", "localhost"),
        ("10.1.2.3", "10.1.2.3"),
        ("::1", "[::1]"),
    ],
)
def test_the_address_is_one_that_can_be_opened(host, shown):
    config = load(environment={}, flags={"api.host": host, "api.port": 81})
    assert program.address(config) == f"http://{shown}:81"


async def test_what_is_pending_is_told_and_not_done(empty_database):
    config = load(environment={}, flags={"database.allow_unsafe_commits": True})
    assert [str(migration) for migration in await database.pending(empty_database, config)] == list(
        map(str, read_migrations())
    )
    done = []
    await database.prepare(empty_database, config, lambda migration, number, count: done.append((number, count)))
    assert done == [(number + 1, len(done)) for number in range(len(read_migrations()))]
    assert await database.pending(empty_database, config) == []


async def test_your_own_server_needs_no_lease():
    config = load(environment={}, flags={"database.url": "postgresql://x"})
    async with database.leased(config) as (dsn, children):
        assert (dsn, children) == ("postgresql://x", [])


def test_an_error_is_found_in_the_groups_of_nurseries():
    error = ValueError("x")
    assert alone(ExceptionGroup("a", [ExceptionGroup("b", [error])])) is error
    several = ExceptionGroup("a", [error, KeyError()])
    assert alone(several) is several


def test_the_defaults_are_those_of_the_clients():
    """The official clients look for http://localhost:8080 when nobody tells them otherwise."""
    assert program.address(Config()) == "http://localhost:8080"


# ---------------------------------------------------------------------------------------------- whole programs


@pytest.fixture
def embedded_up(root, vivero):
    def start():
        server = vivero("up", "--port", "0", "--data-dir", str(root))
        eventually_sync(lambda: server.address or server.process.poll() is not None, within_s=60)
        assert server.address, server.logged
        return server

    return start


@pytest.mark.long
@pytest.mark.process
def test_the_embedded_server_is_started_again_when_it_is_killed(root, embedded_up, server_at):
    server = embedded_up()
    assert f"embedded, data in {root}" in server.said
    assert "fsync on, synchronous_commit on\n" in server.said
    plain_http.post(
        f"{server.address}/v2/deployments", files=[("resources", ("g.bpmn", GREET.read_bytes()))], timeout=60
    ).raise_for_status()

    os.kill(server_at(root).supervisor, signal.SIGKILL)
    eventually_sync(
        lambda: server.logged, accept=lambda found: "the embedded PostgreSQL is gone: restarting it" in found
    )
    body = {"processDefinitionId": "greet"}
    eventually_sync(
        lambda: plain_http.post(f"{server.address}/v2/process-instances", json=body, timeout=30).is_success, within_s=60
    )
    eventually_sync(
        lambda: plain_http.get(f"{server.address}/v2/status").status_code, accept=lambda found: found == 204
    )
    server.process.send_signal(signal.SIGTERM)
    assert server.ends() == 0


@pytest.mark.long
@pytest.mark.process
def test_two_programs_share_one_embedded_server(embedded_up, server_at, root):
    first = embedded_up()
    starts = server_at(root).starts
    second = embedded_up()
    assert server_at(root).starts == starts
    files = [("resources", ("greet.bpmn", GREET.read_bytes()))]
    answer = plain_http.post(f"{second.address}/v2/deployments", files=files, timeout=30).json()
    key = answer["deployments"][0]["processDefinition"]["processDefinitionKey"]
    assert plain_http.get(f"{first.address}/v2/process-definitions/{key}").is_success
    first.process.send_signal(signal.SIGTERM)
    assert first.ends() == 0
    created = plain_http.post(
        f"{second.address}/v2/process-instances", json={"processDefinitionId": "greet"}, timeout=30
    )
    assert created.is_success, created.text


async def test_the_port_for_clients_of_grpc_has_sockets_of_its_own():
    api = load(environment={}, flags={"api.port": 0}).api
    (alone,) = await program.open_all(api)
    port = alone.socket.getsockname()[1]
    with pytest.raises(ListenError, match=rf"port {port} of 127\.0\.0\.1: .* \(setting api\.grpc_port"):
        await program.open_all(replace(api, grpc_port=port))
    await alone.aclose()
    both = await program.open_all(replace(api, grpc_port=port))
    assert [listener.socket.getsockname()[1] == port for listener in both] == [False, True]
    for listener in both:
        await listener.aclose()
