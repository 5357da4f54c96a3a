"""New commands while the engine has too much to do: refused before their body is read, and after a pause."""

import pytest
import trio

from vivero.api.admission.refusals import MAX_PAUSING, PAUSE_S, NotAdmitted

NEW = [
    "process-instances", "deployments", "messages/publication", "messages/correlation", "signals/broadcast",
    "conditionals/evaluation",
]  # fmt: skip


@pytest.mark.parametrize("resource", NEW)
async def test_new_commands_are_refused_unread_and_late(client, engine, autojump_clock, resource):
    engine.admits = False
    began = trio.current_time()
    answer = await client("POST", f"/v2/{resource}", b"not JSON")
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert (answer.headers[b"retry-after"], answer.problem["instance"]) == (b"1", f"/v2/{resource}")
    assert (trio.current_time() - began, engine.appended) == (PAUSE_S, [])


async def test_running_work_is_never_refused_so(client, engine):
    engine.admits = False
    answer = await client("POST", "/v2/jobs/1/completion", {})
    assert answer.status == 204


async def test_only_so_many_wait_for_their_refusal(autojump_clock):
    refusals, took = NotAdmitted(), []

    async def refused():
        began = trio.current_time()
        await refusals.answer("/v2/process-instances")
        took.append(trio.current_time() - began)

    async with trio.open_nursery() as nursery:
        for _ in range(MAX_PAUSING + 3):
            nursery.start_soon(refused)
    assert sorted(took) == [0.0] * 3 + [PAUSE_S] * MAX_PAUSING
    await refused()
    assert took[-1] == PAUSE_S, "there is a place again"
