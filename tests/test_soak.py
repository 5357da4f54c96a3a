"""The soak: its model, its creations under faults, its audit and its slopes."""

import json
from collections import Counter

import httpx
import pytest

from benchmarks.soak.audit import Audit
from benchmarks.soak.load import Load
from benchmarks.soak.model import MODEL, SHARES, counted_of, elements_of, kind_of, variables_of
from benchmarks.soak.samples import memory_slopes, slope_per_hour
from vivero.core.bpmn.parser import parse


def test_each_kind_takes_its_branch_of_the_model():
    (process,) = parse(MODEL, "soak.bpmn").processes
    kinds = {kind_of(number) for number in range(100)}
    assert kinds == set(SHARES)
    assert set().union(*map(elements_of, kinds)) == process.nodes.keys() - {process.id}
    assert elements_of("loop") - counted_of("loop") == Counter({"loop": 1})
    assert variables_of(95) == {"number": 95, "kind": "loop", "broken": False, "items": [0, 1, 2]}


async def test_a_creation_is_repeated_with_its_key_until_it_is_answered(autojump_clock):
    asked = []

    def answer(request):
        asked.append((request.url.host, request.headers["idempotency-key"]))
        if len(asked) == 1:
            raise httpx.ReadError("the node was killed")
        if len(asked) == 2:
            return httpx.Response(503)
        if len(asked) == 3:
            return httpx.Response(400, text="never seen")
        return httpx.Response(200, json={"processInstanceKey": "7"})

    transport = httpx.MockTransport(answer)
    load = Load([httpx.AsyncClient(base_url=f"http://{name}", transport=transport) for name in "ab"])
    await load.create(rate=1, seconds=1)
    assert asked == [("b", "soak-1"), ("a", "soak-1"), ("b", "soak-1"), ("a", "soak-1")]
    assert (load.acknowledged, load.begun, load.created) == ({1: 7}, 1, 1)
    assert load.unexpected == ["POST /process-instances was answered with 400: never seen"]


class _Database:
    """A connection that knows some instances: key → tag, state, elements; and deleted ones."""

    def __init__(self, instances, deleted=()) -> None:
        self.instances, self.deleted = instances, deleted

    async def execute(self, query, parameters=()):
        (keys,) = parameters
        known = [(key, *self.instances[key]) for key in keys if key in self.instances]
        if "deleted_trees" in query:
            return _Rows([(key,) for key in keys if key in self.deleted])
        if "element_instances" in query:
            return _Rows([(key, each, "COMPLETED", count) for key, *_, of in known for each, count in of.items()])
        return _Rows([(key, tag, state, None if state == "ACTIVE" else 12.0) for key, tag, state, _ in known])


class _Rows:
    def __init__(self, rows) -> None:
        self.rows = rows


@pytest.mark.parametrize(
    ("instances", "deleted", "finding"),
    [
        ({7: ("n1", "COMPLETED", elements_of("work"))}, (), None),
        ({}, (7,), None),
        ({7: ("n1", "ACTIVE", {})}, (), None),
        ({}, (), "instance n1 with the key 7 is lost"),
        ({7: ("n2", "COMPLETED", elements_of("work"))}, (), "instance n1 is n2, COMPLETED"),
        ({7: ("n1", "TERMINATED", elements_of("work"))}, (), "instance n1 is n1, TERMINATED"),
        ({7: ("n1", "COMPLETED", elements_of("work") + Counter({"work": 1}))}, (), "'work': 2"),
    ],
    ids=["as it must be", "deleted", "running", "lost", "another", "canceled", "twice"],
)
async def test_the_audit_finds_what_is_lost_or_twice(instances, deleted, finding):
    load = Load([])
    load.acknowledged[1] = 7
    audit = Audit(load)
    await audit.compare(_Database(instances, deleted), {7: 1})
    assert (finding in audit.findings[0]) if finding else audit.findings == []
    running = instances.get(7, ("", "", {}))[1] == "ACTIVE"
    assert (load.acknowledged, audit.ended + bool(finding and not instances)) == (
        {1: 7} if running else {},
        not running,
    )


async def test_the_sums_include_deleted_instances():
    counts = {element: {"completed": count} for element, count in counted_of("loop").items()}

    def answer(request):
        items = [{"elementId": element, **each} for element, each in counts.items()]
        return httpx.Response(200, text=json.dumps({"items": items}))

    load = Load([httpx.AsyncClient(base_url="http://a", transport=httpx.MockTransport(answer))])
    load.kinds["loop"] = 1
    audit = Audit(load)
    await audit.totals("1")
    assert audit.findings == []
    counts["end"]["completed"] = 2
    await audit.totals("1")
    assert audit.findings == ["the statistics count 2 completed end instead of 1"]


def test_slopes_are_those_of_the_process_that_lived_longest_once_it_is_warm():
    young = [{"at_s": 15.0 * number, "node-a pid": 1.0, "node-a memory_mb": 50.0 + number} for number in range(30)]
    after = [{"at_s": 450 + 15.0 * n, "node-a pid": 2.0, "node-a memory_mb": 99 - n} for n in range(20)]
    level = [{"at_s": 750 + 15.0 * n, "node-a pid": 2.0, "node-a memory_mb": 70 + n / 240} for n in range(20)]
    assert memory_slopes([*young, *after, *level], ["node-a", "gone"]) == {"node-a_memory_mb_per_h": pytest.approx(1.0)}
    assert slope_per_hour(level[:9], "node-a memory_mb") is None
