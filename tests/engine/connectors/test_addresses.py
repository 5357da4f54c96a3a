"""Addresses that connectors may call: forms of private ones, rebinding, redirects."""

import socket
import threading

import httpcore
import pytest
import trio
import trio.testing

from tests.engine.connectors.conftest import serving
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.addresses import AddressPolicy, ForbiddenAddress
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import read_request
from vivero.engine.connectors.http.transport import CheckedNetwork, resolve
from vivero.engine.connectors.settings import ConnectorSettings

FORBIDDEN = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.1.2.3",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::10.0.0.1",
    "2002:7f00:1::",
    "2002:0a00:0001::1",
    "2002:0808:0808::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "2001:20::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:127.0.0.1",
]
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.63.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001::200e",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_addresses_that_are_not_public_are_forbidden(address):
    with pytest.raises(ForbiddenAddress):
        AddressPolicy().check("example.com", address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address):
    AddressPolicy().check("example.com", address)


@pytest.mark.parametrize(
    ("setting", "host", "address"),
    [
        ("10.0.0.0/8", "x", "10.1.2.3"),
        ("10.0.0.0/8, fd00::/8", "x", "::ffff:10.1.2.3"),
        ("10.0.0.0/8, fd00::/8", "x", "fd00::5"),
        ("192.168.1.7", "x", "192.168.1.7"),
        ("Internal.Example.com.", "internal.example.COM", "10.1.2.3"),
        ("64:ff9b::/96", "x", "64:ff9b::8.8.8.8"),
    ],
)
def test_a_setting_allows_others(setting, host, address):
    AddressPolicy.parse(setting).check(host, address)


@pytest.mark.parametrize(
    ("setting", "host", "address"),
    [
        ("10.0.0.0/8", "x", "127.0.0.1"),
        ("internal.example.com", "evil.internal.example.com", "10.1.2.3"),
        ("64:ff9b::/96", "x", "64:ff9b::127.0.0.1"),
        ("2002::/16", "x", "2002:7f00:1::"),
    ],
)
def test_a_setting_allows_nothing_else(setting, host, address):
    with pytest.raises(ForbiddenAddress):
        AddressPolicy.parse(setting).check(host, address)


@pytest.mark.parametrize("text", ["10.0.0.1/8", "10.0.0.0/33", "300.1.1.1", "*.example.com", "a b", "[::1]"])
def test_a_wrong_setting_is_rejected(text):
    with pytest.raises(ValueError, match=r"."):
        ConnectorSettings(allowed_targets=text)


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "017700000001", "localhost", "[::1]", "0"])
async def test_no_way_to_write_loopback_is_called(server, host):
    client = HttpClient(ConnectorSettings())
    with pytest.raises(ConnectorError, match="FORBIDDEN_ADDRESS"):
        await client.call(read_request({"url": f"http://{host}:{server.port}/"}), Credentials())
    await client.aclose()
    assert server.connections == 0


async def test_a_name_is_resolved_once_and_the_checked_address_is_called(server):
    """DNS rebinding: the second answer of the name server is another address. Nobody asks for it."""
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])

    async def rebinding(_host, _port):
        return next(answers)

    settings = ConnectorSettings(allowed_targets="127.0.0.1")
    client = HttpClient(settings, rebinding)
    response = await client.call(read_request({"url": f"http://rebind.example:{server.port}/a"}), Credentials())
    await client.aclose()
    assert response.status == 200
    assert server.received[0].headers["host"] == f"rebind.example:{server.port}"
    assert next(answers) == ["169.254.169.254"]


async def test_one_forbidden_address_of_a_name_is_enough():
    async def two(_host, _port):
        return ["8.8.8.8", "10.0.0.1"]

    with pytest.raises(ForbiddenAddress):
        await CheckedNetwork(AddressPolicy(), two).connect_tcp("example.com", 80)


async def test_the_next_address_is_called_if_one_does_not_answer(server):
    async def two(_host, _port):
        return ["127.0.0.2", "127.0.0.1"]

    network = CheckedNetwork(AddressPolicy.parse("127.0.0.0/8"), two)
    stream = await network.connect_tcp("example.com", server.port, timeout=10)
    assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
    await stream.aclose()


async def test_a_name_that_does_not_exist_is_told():
    async def nothing(_host, _port):
        raise OSError("no such name")

    with pytest.raises(httpcore.ConnectError, match="cannot be resolved"):
        await CheckedNetwork(AddressPolicy(), nothing).connect_tcp("example.com", 80)


async def test_the_resolution_is_within_the_time_limit(autojump_clock):
    async def never(_host, _port):
        await trio.sleep_forever()

    with pytest.raises(httpcore.ConnectTimeout):
        await CheckedNetwork(AddressPolicy(), never).connect_tcp("example.com", 80, timeout=5)


async def test_addresses_of_the_system_are_texts():
    assert await resolve("127.0.0.1", 80) == ["127.0.0.1"]


async def test_names_that_no_server_answers_for_take_no_threads_of_the_engine(monkeypatch):
    go = threading.Event()

    def unanswered(*_, flags=0, **__):
        if not flags and go.wait(20):
            return [(None, None, None, "", ("1.2.3.4", 80))]
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unanswered)
    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(resolve, "name.example", 80)
        await trio.testing.wait_all_tasks_blocked()
        taken = trio.to_thread.current_default_thread_limiter().borrowed_tokens
        go.set()
    assert taken == 0


async def test_redirects_are_checked_again():
    async with serving() as server:
        server.answer = lambda request: (302, {"Location": f"http://127.0.0.2:{server.port}/inner"}, b"")
        client = HttpClient(ConnectorSettings(allowed_targets="127.0.0.1"))
        with pytest.raises(ConnectorError, match="FORBIDDEN_ADDRESS"):
            await client.call(read_request({"url": f"{server.url}/outer"}), Credentials())
        await client.aclose()
        assert [request.target for request in server.received] == ["/outer"]
