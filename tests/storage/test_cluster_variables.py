"""Cluster variables and the deletion of their tenant at the same time: a later tenant of its name inherits nothing."""

import pytest
import trio
import trio.testing

from vivero.storage.access import directory
from vivero.storage.postgres import driver
from vivero.storage.state import cluster_variables
from vivero.storage.state.cluster_variables import ClusterVariable, UnknownTenant

VARIABLE = ClusterVariable("acme", "limit", "1", "{}")


@pytest.fixture
async def pair(migrated):
    """Two connections to a database with the tenant `acme`."""
    found = [await driver.connect(migrated) for _ in range(2)]
    await directory.create(found[0], directory.TENANT, "acme", ("Acme", None))
    yield found
    for each in found:
        each.close()


async def variables(connection):
    return (await connection.execute("SELECT tenant_id, name FROM cluster_variables")).rows


async def test_a_deletion_waits_for_a_creation_and_takes_the_variable_along(pair):
    one, other = pair
    done = []

    async def delete():
        done.append(await directory.delete(other, directory.TENANT, "acme"))

    async with trio.open_nursery() as nursery, one.transaction():
        assert await cluster_variables.create(one, VARIABLE)
        nursery.start_soon(delete)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert done == []
    assert (done, await variables(one)) == (["done"], [])


async def test_a_creation_waits_for_a_deletion_and_finds_no_tenant(pair):
    one, other = pair
    failed = []

    async def create():
        async with other.transaction():
            try:
                await cluster_variables.create(other, VARIABLE)
            except UnknownTenant:
                failed.append(True)

    async with trio.open_nursery() as nursery, one.transaction():
        assert await directory.delete(one, directory.TENANT, "acme") == "done"
        nursery.start_soon(create)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert failed == []
    assert (failed, await variables(one)) == ([True], [])
