"""Adjacent versions work together, others say that they do not."""

import pytest
from structlog.testing import capture_logs

from tests.engine.cluster.test_cluster import FakeNode, node
from vivero.engine.cluster.versions import IncompatibleVersion, check, check_alone
from vivero.engine.supervision.failures import Escalated
from vivero.storage.cluster import leadership, nodes
from vivero.storage.cluster.nodes import Node
from vivero.storage.schema.migration_files import SCHEMA_VERSION, Migration

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


def migration(version, name):
    return Migration(version, name, "", "0" * 64)


USUAL, ALONE = migration(SCHEMA_VERSION + 1, "usual"), migration(SCHEMA_VERSION + 2, "alone_in_another_form")
NOTED = "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)"


def test_a_migration_that_runs_alone_waits_for_the_end_of_all_nodes():
    check_alone([USUAL, ALONE], [])
    check_alone([USUAL], [running("1.0")])
    with pytest.raises(IncompatibleVersion, match=rf"{ALONE} runs alone.*Running: n at host:8080 \(version 1\.0\)"):
        check_alone([USUAL, ALONE], [running("1.0")])


async def test_a_node_that_was_frozen_while_a_migration_ran_alone_leads_nothing_and_ends(node, connection):
    first = node("a", schema=SCHEMA_VERSION)
    await first.look()
    await connection.execute(NOTED, (USUAL.version, USUAL.name, USUAL.sha256))
    await first.lead(1)
    await first.look()
    await connection.execute(NOTED, (ALONE.version, ALONE.name, ALONE.sha256))
    with pytest.raises(leadership.Owned):
        await first.lead(1)
    with pytest.raises(leadership.Owned):
        await first.lead(2)
    with pytest.raises(Escalated, match=f"has migration {ALONE.version:04d}, which ran alone"):
        await first.look()


async def test_a_database_without_the_table_has_no_nodes(connection):
    await connection.execute("DROP TABLE nodes")
    assert await nodes.running(connection) == []
