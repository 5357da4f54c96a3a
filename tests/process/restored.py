"""A restored database has the ledger up to its moment, and gives out nothing twice after it."""

from collections import Counter
from copy import deepcopy

import psycopg
import trio

from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.ledger import Ledger
from tests.process.load import Load

FIRST_AFTERWARDS = 1_000_001
"""The number of the first creation after the restore: the numbers before it are those of the load before."""


def note(ledger):
    """The ledger of now: all of it was answered before what comes next."""
    return deepcopy(ledger)


def instances(dsn):
    """Number → key."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute("SELECT substr(tags[1], 2)::int, process_instance_key::text FROM process_instances")
        return dict(rows.fetchall())


def jobs(dsn):
    """The keys of all jobs."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return {key for (key,) in connection.execute("SELECT job_key::text FROM jobs")}


async def goes_on(dsn, port, before, everything):
    """Work on in the restored database, to the end. `before`: the ledger at the moment; `everything`: at the end.

    Returns the number of instances that are lost, whose clients were told of them.
    """
    there = instances(dsn)
    gone = {number: key for number, key in before.started.items() if there.get(number) != key}
    assert gone == {}, "instances that were answered before the moment"
    lost = {number: key for number, key in everything.started.items() if number not in there}
    async with Caller(port) as caller:
        await _lost_is_unknown(caller, lost, sorted(set(everything.completed) - jobs(dsn)))
        await _lost_is_made_anew(caller, lost)
        await _kept_is_answered_alike(caller, before, there)
    again = Load([port], first=FIRST_AFTERWARDS)
    async with trio.open_nursery() as nursery:
        await nursery.start(again.run)
        await again.progress(100)
        await again.stop_creating()
        await settled(dsn)
        nursery.cancel_scope.cancel()
    await audit(dsn, _joined(before, everything, again.ledger, instances(dsn)))
    _nothing_twice(everything, again.ledger, lost)
    return len(lost)


async def _lost_is_unknown(caller, lost, lost_jobs):
    """Keys of what is lost are unknown."""
    for key in list(lost.values())[:3]:
        for method, path in (("GET", ""), ("POST", "/cancellation")):
            answer = await caller.call(method, f"/v2/process-instances/{key}{path}", None if method == "GET" else {})
            assert answer.status == 404, answer
    for job in lost_jobs[:3]:
        answer = await caller.call("POST", f"/v2/jobs/{job}/completion", {})
        assert answer.status == 404, answer


async def _lost_is_made_anew(caller, lost):
    """The same request with the idempotency key of what is lost: it is unknown, too."""
    number = next((number for number in lost if number % 8 == 2), None)
    if number is not None:
        answer = await _create_again(caller, number)
        assert answer.status == 200, answer
        assert answer.json["processInstanceKey"] != lost[number]


async def _create_again(caller, number):
    body = {"processDefinitionId": "one-task", "tags": [f"n{number}"], "variables": {"number": number}}
    headers = [("Idempotency-Key", f"creation-{number}")]
    return await caller.call("POST", "/v2/process-instances", body, headers=headers)


async def _kept_is_answered_alike(caller, before, there):
    """The same request with the idempotency key of what was kept has the same answer."""
    number = next(number for number in before.started if number % 8 == 2 and number in there)
    answer = await _create_again(caller, number)
    assert (answer.status, answer.json["processInstanceKey"]) == (200, before.started[number])


def _joined(before, everything, after, there):
    """A ledger in which what was lost is in doubt."""
    ledger = Ledger()
    ledger.started = {**before.started, **after.started}
    asked = set(everything.started) | everything.unknown | {n for n in there if n < FIRST_AFTERWARDS}
    ledger.unknown = (asked - set(before.started)) | after.unknown
    ledger.completed = before.completed + after.completed
    ledger.awaited = {**before.awaited, **after.awaited}
    return ledger


def _nothing_twice(everything, after, lost):
    """Keys that were given out before are not given out again, whether they were lost or not."""
    known = set(everything.started.values()) | set(everything.completed)
    assert known.isdisjoint(after.started.values())
    twice = Counter(everything.started.values()) + Counter(after.started.values())
    assert max(twice.values()) == 1
    newest = max(int(key) for key in known)
    assert all(int(key) > newest for key in after.started.values()), f"{len(lost)} are lost"
