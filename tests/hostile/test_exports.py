"""Reads of very much: histories, lists, the archive, and backups. Their volume must not hold up others."""

import sys
from collections import Counter

import pytest
import trio

from tests.hostile.target import waits_for_worker
from tests.hostile.test_computing import compute, sending, served
from tests.process.load import deploy

PROGRAM_ENVIRONMENT = {"VIVERO_RETENTION_ARCHIVE": "{directory}/archive"}
CLIENTS = 4
INNER = 1_000
RECORDS = 20_000
ARCHIVED, TEXT_BYTES = 40, 250_000
LOOP = f"""<bpmn:process id="long" isExecutable="true">
  <bpmn:startEvent id="s"/><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="t"/>
  <bpmn:scriptTask id="t"><bpmn:extensionElements>
    <zeebe:script expression="=item + 1" resultVariable="r"/></bpmn:extensionElements>
    <bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements><zeebe:loopCharacteristics
      inputCollection="=for i in 1..{INNER} return i" inputElement="item"/></bpmn:extensionElements>
    </bpmn:multiInstanceLoopCharacteristics></bpmn:scriptTask>
</bpmn:process>"""
AUDIT = """INSERT INTO audit_log
    (actor_type, actor_id, category, entity_type, entity_key, operation, result, description)
SELECT 'USER', 'somebody', 'ADMIN', 'USER', 'u' || n, 'UPDATE', 'SUCCESS', repeat('x', 500)
FROM generate_series(1, %s) n"""


def getting(path):
    async def get(caller):
        return await caller.call("GET", path, within_s=120)

    return get


async def history(target):
    """The path of an instance with a long history."""
    await target.deployed(LOOP)
    key = await target.created("long")
    assert await target.ended(key) == "COMPLETED"
    return f"/v2/process-instances/{key}"


async def events(target):
    return getting(f"{await history(target)}/events")


async def trace(target):
    return getting(f"{await history(target)}/trace")


async def snapshot(target):
    """Many variables of an instance that waits."""
    await target.deployed(waits_for_worker("exported"))
    return getting(f"/v2/process-instances/{await target.created('exported', variables())}/snapshot")


def variables():
    return {f"v{n}": {"a": [1.5] * 20, "text": "x" * 200} for n in range(5_000)}


async def variables_page(target):
    await deploy(target.port, "straight.bpmn")
    await target.created("straight", variables())
    return sending("variables/search", '{"page":{"limit":10000}}')


async def audit(target):
    target.sql(AUDIT, (RECORDS,))
    return sending("audit-logs/search", '{"page":{"limit":10000}}')


async def archive(target):
    """A search of all files for a person whom nobody knows."""
    await deploy(target.port, "straight.bpmn")
    for _ in range(ARCHIVED):
        key = await target.created("straight", {"texts": ["some text"] * (TEXT_BYTES // 12)})
        assert await target.ended(key) == "COMPLETED"
        answer = await target.call("POST", f"/v2/process-instances/{key}/deletion", {})
        assert answer.status == 204, answer
    assert target.sql("SELECT count(*) FROM archive_files WHERE state = 'COMPLETE'")[0][0] >= 1
    return sending("erasures", '{"businessId":"nobody","dryRun":true,"after":"archive:"}')


EXPORTS = {
    "events": events,
    "trace": trace,
    "snapshot": snapshot,
    "variables": variables_page,
    "audit-log": audit,
    "archive": archive,
}


@pytest.mark.parametrize("name", EXPORTS)
async def test_many_clients_that_read_very_much(target, name):
    work, counts = await EXPORTS[name](target), Counter()
    async with target.attacked(within_s=180), trio.open_nursery() as nursery:
        for number in range(CLIENTS):
            nursery.start_soon(compute, target.port, work, counts, number)
        await served(counts, 2 * CLIENTS)
        nursery.cancel_scope.cancel()
    assert set(counts) <= {200, 503}, counts
    assert counts[200]


async def test_a_backup(target):
    """It reads all tables while the program works."""
    command = [sys.executable, "-m", "vivero", "backup", str(target.directory / "backup")]
    target.sql(AUDIT, (RECORDS,))
    async with target.attacked(within_s=180):
        done = await trio.run_process([*command, "--database-url", target.database], env=target.program.environment)
    assert done.returncode == 0
    assert (target.directory / "backup").is_dir()
