"""GET /v2/commands: the newest commands of a partition."""

import json

import pytest

from tests.api.rows import KEY, NOW
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.codec import encode_command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.instances import SetVariables
from vivero.storage.log import recent_commands

FIRST = 1 << 51
PATH = "/v2/commands"


@pytest.fixture
def commands(rows):
    """Puts commands at the positions 1 to `n`: the last is pending, the one before was rejected."""

    def put(n):
        for number in range(1, n + 1):
            at = {"partition_id": 1, "position": FIRST | number}
            common = {"append_id": "0" * 32, "ord": number, "at": NOW, "tenant_id": "<default>", "key": KEY}
            rows.put("command_log", **at, **common, intent="JOB:COMPLETE", payload=b"{}")
            if number < n:
                rejection = json.dumps({"code": "NOT_FOUND", "reason": "no such job"}) if number == n - 1 else None
                rows.put("event_log", **at, seq=0, version=1, processed_at=NOW, events="[]", rejection=rejection)

    return put


async def test_a_conditional_command_says_what_it_changes(commands, rows, reader):
    commands(2)
    payload = encode_command(conditional(SetVariables(KEY, {}), KEY, (1,)))
    for position, content in ((1, payload), (2, b"")):
        given = [ChangeIfMatch.intent, content, FIRST | position]
        rows.execute("UPDATE command_log SET intent = %s, payload = %s WHERE position = %s", given)
    page = (await reader("GET", PATH)).json
    assert [item["change"] for item in page["items"]] == [None, SetVariables.intent], "the first one is erased"


async def test_the_newest_come_first(commands, reader):
    commands(3)
    page = (await reader("GET", PATH)).json
    assert [(int(item["commandPosition"]) - FIRST, item["status"]) for item in page["items"]] == [
        (3, "PENDING"),
        (2, "REJECTED"),
        (1, "PROCESSED"),
    ]
    assert page["items"][1] == {
        "commandPosition": str(FIRST | 2),
        "partitionId": 1,
        "intent": "JOB:COMPLETE",
        "change": None,
        "key": str(KEY),
        "tenantId": "<default>",
        "status": "REJECTED",
        "appendedAt": NOW,
        "processedAt": NOW,
        "rejection": {"code": "NOT_FOUND", "reason": "no such job"},
    }
    assert (page["partitions"], page["next"]) == ([1], None)


async def test_pages_go_on_where_the_last_one_ended(commands, reader):
    commands(5)
    seen, after = [], ""
    while after is not None:
        page = (await reader("GET", f"{PATH}?limit=2{after}")).json
        seen += [int(item["commandPosition"]) - FIRST for item in page["items"]]
        after = page["next"] and f"&before={page['next']}"
    assert seen == [5, 4, 3, 2, 1]


async def test_another_partition_has_its_own_log(commands, reader):
    commands(2)
    assert (await reader("GET", f"{PATH}?partitionId=2")).json["items"] == []


@pytest.mark.parametrize("query", ["before=x", "limit=0", "limit=1001", "partitionId=-1", "before=" + "9" * 20])
@pytest.mark.harmless
async def test_what_is_wrong(reader, query):
    assert (await reader("GET", f"{PATH}?{query}")).problem["status"] == 400


@pytest.mark.parametrize(("tenants", "found"), [(["<default>", "b"], 3), (["b"], 0), (None, 3)])
async def test_a_reader_sees_commands_of_its_tenants(commands, stored, tenants, found):
    commands(3)
    async with stored.reads.pool.connection() as connection:
        assert len(await recent_commands.recent(connection, 1, 1 << 62, 10, tenants)) == found
