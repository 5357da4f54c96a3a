"""A trial, not shipped code: a search over two servers, and commands that go from one to the other."""

import json

from vivero.storage.search.queries import SearchQuery
from vivero.storage.search.statements import prepare, run

OUTGOING = """
    CREATE TABLE outgoing (
        target int, id bigint GENERATED ALWAYS AS IDENTITY, payload text, PRIMARY KEY (target, id))"""
RECEIVED = """
    CREATE TABLE received (source int PRIMARY KEY, up_to bigint NOT NULL);
    INSERT INTO received VALUES (1, 0), (2, 0)"""
TAKE = "UPDATE received SET up_to = $3 WHERE source = $1 AND up_to = $2 RETURNING up_to"
INSERT = """
    INSERT INTO inbox (target_partition, tenant_id, intent, payload)
    SELECT $1, 't', 'X:Y', convert_to(p, 'UTF8') FROM unnest($2::text[]) WITH ORDINALITY AS given(p, n) ORDER BY n"""


class Interrupted(Exception):
    """Somebody kills the program here."""


async def search(connections, resource, sort, limit, after=None):
    """A page over all servers, its cursor, and the sum of their totals.

    A cursor holds sort values and a key, so that each server can go on behind it. Fails if one server fails.
    """
    query = SearchQuery(sort=sort, limit=limit, after=after)
    pages = [await run(connection, prepare(resource, query)) for connection in connections]
    found = sorted(
        (_place(item, sort), server, number, item)
        for server, page in enumerate(pages)
        for number, item in enumerate(page.items)
    )[:limit]
    if not found:
        return [], None, sum(page.total for page in pages)
    _, server, number, _ = found[-1]
    last = await run(connections[server], prepare(resource, SearchQuery(sort=sort, limit=number + 1, after=after)))
    return [json.loads(item) for *_, item in found], last.end, sum(page.total for page in pages)


def _place(item, sort):
    """By the start, then by the key: as each server sorts."""
    document = json.loads(item)
    assert [one.field.name for one in sort] == ["startDate"]
    return document["startDate"], int(document["processInstanceKey"])


async def pull(source, target, numbers, at_once=3, interrupt=lambda step: None):
    """Move commands of one server to another: the mark and the commands are one transaction of the target.

    `numbers`: of the two partitions. Returns how many came.
    """
    begun, ended = numbers
    mark = (await target.execute("SELECT up_to FROM received WHERE source = $1", (begun,))).rows[0][0]
    await source.execute("DELETE FROM outgoing WHERE target = $1 AND id <= $2", (ended, mark))
    interrupt("deleted")
    query = "SELECT id, payload FROM outgoing WHERE target = $1 AND id > $2 ORDER BY id LIMIT $3"
    rows = (await source.execute(query, (ended, mark, at_once))).rows
    if not rows:
        return 0
    interrupt("read")
    async with target.transaction():
        if not (await target.execute(TAKE, (begun, mark, rows[-1][0]))).rows:
            return 0  # another one was here
        interrupt("taken")
        await target.execute(INSERT, (ended, [payload for _, payload in rows]))
        interrupt("inserted")
    interrupt("committed")
    return len(rows)
