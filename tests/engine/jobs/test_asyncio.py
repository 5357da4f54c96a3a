"""asyncio functions with real asyncio libraries: cancellation, timeouts and context variables reach them."""

import asyncio
from contextvars import ContextVar
from uuid import uuid4

import httpx
import pytest
import trio

from tests import plain_http
from tests.eventually import eventually
from vivero.engine.jobs.definitions import job
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import job_executions

MESSAGE = "regexp_replace(error, '.*\\n', '')"
"""The last line of an error, which has no calls."""
ONCE = RetrySettings(max_attempts=1)
WHO = ContextVar("WHO", default="nobody")


@pytest.fixture
async def server(nursery):
    """An HTTP server that answers `/greeting` at once, and anything else never; it notes who hung up."""
    hung_up = []

    async def answer(stream):
        head = await stream.receive_some(65_536)
        if head.startswith(b"GET /greeting"):
            await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello")
        elif not await stream.receive_some(1):
            hung_up.append(head.split()[1].decode())
        await stream.aclose()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, answer, listeners)
    yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}", hung_up
    for listener in listeners:
        listener.socket.close()


@pytest.fixture
def run(connection, dispatcher, nursery, until, beat):
    """Runs a function as an asyncio job until its execution is as expected."""

    async def run(function, expected, **options):
        settings = {"poll_interval": "PT0.02S"} | options.pop("settings", {})
        await job_executions.add(connection, str(uuid4()), "aio", None, None)
        made = dispatcher(job("aio", runs="asyncio", retry=ONCE, **options)(function), **settings)
        nursery.start_soon(made.run, beat)
        await until(expected, f"state, {MESSAGE}")
        return made

    return run


async def test_a_client_on_asyncio_calls_a_server(server, run):
    answers = []
    url, _ = server

    async def call(_execution):
        async with plain_http.async_client(trust_env=False) as client:
            found = await asyncio.gather(client.get(f"{url}/greeting"), client.get(f"{url}/greeting"))
        answers.extend(answer.text for answer in found)
        answers.append(await asyncio.to_thread(lambda: "from a thread"))

    await run(call, [])
    assert answers == ["hello", "hello", "from a thread"]


@pytest.mark.long
async def test_the_timeout_of_the_job_cancels_the_call(server, run):
    seen = []
    url, hung_up = server

    made = plain_http.async_client(trust_env=False, timeout=None)  # which takes a while

    async def call(_execution):
        async with made as client:
            try:
                await client.get(f"{url}/never")
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    await run(call, [("failed", "TooSlowError")], timeout="PT1S")
    assert seen == ["cancelled"]
    await eventually(lambda: hung_up, accept=lambda found: found == ["/never"])


async def test_timeouts_of_asyncio_and_of_the_library_are_failures_of_the_run(server, run):
    kinds = []
    url, _ = server

    async def call(_execution):
        async with plain_http.async_client(trust_env=False, timeout=httpx.Timeout(None, read=0.05)) as client:
            with pytest.raises(httpx.ReadTimeout) as read:
                await client.get(f"{url}/never")
            kinds.append(read.type.__name__)
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()

    await run(call, [("failed", "TimeoutError")])
    assert kinds == ["ReadTimeout"]


async def test_a_stop_cancels_the_function_and_all_its_tasks(run, until):
    events = []

    async def part(number):
        try:
            events.append(f"began {number}")
            await asyncio.Event().wait()
        finally:
            events.append(f"ended {number}")

    async def call(_execution):
        async with asyncio.TaskGroup() as group:
            group.create_task(part(1))
            group.create_task(part(2))

    made = await run(call, [("running", None)], settings={"drain": "PT0S"})
    await eventually(lambda: len(events), accept=lambda found: found == 2)
    made.drain()
    await until([("pending", None)], "state, error")
    assert sorted(events) == ["began 1", "began 2", "ended 1", "ended 2"]


async def test_context_variables_are_passed_on_and_changes_stay_within_the_run(run):
    seen = []

    async def call(_execution):
        seen.append(WHO.get())
        WHO.set("the run")
        seen.append(await asyncio.create_task(tell()))
        seen.append(await asyncio.to_thread(WHO.get))

    async def tell():
        return WHO.get()

    WHO.set("the test")
    await run(call, [])
    assert seen == ["the test", "the run", "the run"]
    assert WHO.get() == "the test"
