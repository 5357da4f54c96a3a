"""Several hosts: each connection finds the primary, whichever host it is, and silent hosts cost little time."""

import socket

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.eventually import eventually
from vivero.storage.postgres import hosts
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn, NoPrimary, Outage
from vivero.storage.postgres.hosts import Role, needed_role


@pytest.fixture
def listening():
    """A port whose connections the kernel accepts, and nobody ever reads."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.fixture
def several(database):
    """A DSN with other hosts before the one of `database`: `several(port, port, …)`."""
    own = conninfo_to_dict(database)

    def make(*ports, **parameters):
        others = ",".join("127.0.0.1" for _ in ports)
        numbers = ",".join(str(port) for port in ports)
        return make_conninfo(
            database, host=f"{others},{own['host']}", port=f"{numbers},{own.get('port', 5432)}", **parameters
        )

    return make


async def test_silent_hosts_cost_the_time_of_a_beginning_each(several, listening):
    started = trio.current_time()
    connection = await connect(several(listening, listening, listening))
    connection.close()
    assert trio.current_time() - started < 4 * hosts.STAGGER_S + 1  # not a share of 5 s each


async def test_the_deadline_holds_for_all_hosts_together(listening):
    started = trio.current_time()
    dsn = f"host=127.0.0.1,127.0.0.1,127.0.0.1 port={listening} user=u dbname=d"
    with pytest.raises(ConnectFailed) as caught:
        await connect(dsn, deadline=started + 0.3)
    assert str(caught.value).count("no answer from 127.0.0.1") == 3
    assert trio.current_time() - started < 2


async def test_of_two_that_answer_at_once_one_stays_and_the_other_is_closed(database, monkeypatch):
    monkeypatch.setattr(hosts, "STAGGER_S", 0.0)
    name = conninfo_to_dict(database)["dbname"]
    host = conninfo_to_dict(database)["host"]
    connection = await connect(make_conninfo(database, host=f"{host},{host},{host}"), name="twice")
    with psycopg.connect(database, autocommit=True) as administrator:
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name = 'twice'"
        await eventually(
            lambda: administrator.execute(sessions, (name,)).fetchone(), accept=lambda found: found == (1,)
        )
    assert (await connection.execute("SELECT 1")).rows == [(1,)]
    connection.close()


async def test_a_cancelled_choice_leaves_nothing(database, listening, monkeypatch):
    monkeypatch.setattr(hosts, "STAGGER_S", 60.0)
    dsn = f"host=127.0.0.1,127.0.0.1 port={listening} user=u dbname=d"
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connect, dsn)
            await trio.testing.wait_all_tasks_blocked(0.01)
            scope.cancel()
    assert scope.cancelled_caught


@pytest.mark.parametrize("given", ["standby", "read-only", "prefer-standby", "nonsense"])
async def test_a_role_that_cannot_write_is_refused(database, given):
    with pytest.raises(InvalidDsn, match=f"target_session_attrs={given} .* use read-write or primary"):
        await connect(make_conninfo(database, target_session_attrs=given))


def test_the_role_that_is_needed():
    assert needed_role(None, 1) is Role.ANY
    assert needed_role(None, 2) is Role.READ_WRITE
    assert needed_role("any", 2) is Role.ANY
    assert needed_role("primary", 1) is Role.PRIMARY


READ_ONLY = "-c default_transaction_read_only=on"


async def test_a_read_only_host_is_told_apart(database):
    with pytest.raises(NoPrimary, match=r"is read-only \(default_transaction_read_only is on\)") as caught:
        await connect(make_conninfo(database, options=READ_ONLY, target_session_attrs="read-write"))
    assert isinstance(caught.value, Outage)
    connection = await connect(make_conninfo(database, options=READ_ONLY, target_session_attrs="primary"))
    connection.close()


async def test_a_name_with_several_addresses_is_several_hosts(database, monkeypatch):
    """The first address has no server, the second one is read-only: both are told."""

    async def getaddrinfo(host, port, **_):
        assert host == "database.example"
        return [(2, 1, 6, "", (address, port)) for address in ("127.0.0.2", "127.0.0.3")]

    monkeypatch.setattr(trio.socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(ConnectFailed) as caught:
        await connect("host=database.example port=1 user=u dbname=d")
    assert "127.0.0.2" in str(caught.value)
    assert "127.0.0.3" in str(caught.value)


async def test_a_name_server_that_is_silent_about_one_host_does_not_delay_the_others(several, monkeypatch):
    async def getaddrinfo(host, *_, **__):
        await trio.sleep_forever()

    monkeypatch.setattr(trio.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr("vivero.storage.postgres.conninfo.RESOLVE_S", 0.1)
    dsn = several(1).replace("127.0.0.1", "silent.example")
    connection = await connect(dsn)
    connection.close()
