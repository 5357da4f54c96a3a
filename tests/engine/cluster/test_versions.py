"""Adjacent versions work together, others say that they do not."""

import pytest
from structlog.testing import capture_logs

from tests.engine.cluster.test_cluster import FakeNode, node
from vivero.engine.cluster.versions import IncompatibleVersion, check
from vivero.engine.supervision.failures import Escalated
from vivero.storage.cluster import nodes
from vivero.storage.cluster.nodes import Node

__all__ = ["FakeNode", "node"]


def running(version):
    roles, times = ("engine",), {"started_ms": 0, "heartbeat_ms": 0}
    return Node("n", 1, roles, version, 13, "host", 8080, draining=False, live=True, ready=(), **times)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("1.4.0", "1.4.9"),
        ("1.4.0", "1.5.0"),
        ("1.4.0", "1.3.2"),
        ("0.1.0", "0.2.0.dev1"),
        ("1.0", "dev"),
        ("dev", "1.0"),
    ],
)
def test_these_work_together(own, other):
    check(own, [running(other)])


@pytest.mark.parametrize(
    ("own", "other", "to_do"),
    [
        ("1.4.0", "1.6.0", "Start version 1.6 here"),
        ("1.6.0", "1.4.0", "Upgrade that node to version 1.5 first, or stop all other nodes"),
        ("2.0.0", "1.9.0", "Stop all other nodes first"),
        ("1.9.0", "2.0.0", "Start version 2.0 here"),
        ("1.10.0", "1.8.0", "Upgrade that node to version 1.9 first, or stop all other nodes"),
    ],
)
def test_these_say_that_they_do_not(own, other, to_do):
    with pytest.raises(IncompatibleVersion) as refused:
        check(own, [running(own), running(other)])
    assert str(refused.value).startswith(
        f"the node n at host:8080 runs version {other}, and this program is version {own}"
    )
    assert str(refused.value).endswith(to_do)


async def test_of_two_that_start_at_once_the_later_one_ends(node, connection):
    first, second = node("a", version="1.0.0"), node("b", version="1.2.0")
    await first.look()
    with pytest.raises(Escalated, match=r"Upgrade that node to version 1\.1 first"):
        await second.look()
    await first.look()
    await first.die(connection)
    await second.look()


async def test_a_newer_schema_is_logged_once(node, connection):
    first, second = node("a", schema=13), node("b", schema=14)
    await second.look()
    with capture_logs() as logged:
        await first.look()
        await first.look()
    event = "a newer version runs in this cluster: upgrade this node, too"
    assert [line["node"] for line in logged if line["event"] == event] == ["b"]


async def test_a_database_without_the_table_has_no_nodes(connection):
    await connection.execute("DROP TABLE nodes")
    assert await nodes.running(connection) == []
