"""A whole program in the process of the tests, on a port of its own."""

from contextlib import asynccontextmanager

import trio

from tests import plain_http
from tests.eventually import eventually


@asynccontextmanager
async def whole_program(config, database, nursery):
    """The URL of a program that answers."""
    # imported late: few tests need a whole program
    from vivero.api.http1.listeners import open_listeners
    from vivero.api.serving.server import Endpoint
    from vivero.node import tree

    listeners = await open_listeners("127.0.0.1", 0)
    stop, done = trio.Event(), trio.Event()

    async def run():
        await tree.run(config, database, "node", Endpoint(listeners), stop)
        done.set()

    nursery.start_soon(run)
    url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
    async with plain_http.async_client(timeout=60) as client:
        await eventually(lambda: client.get(f"{url}/v2/status"), accept=lambda answer: answer.status_code == 204)
    yield url
    stop.set()
    with trio.fail_after(20):
        await done.wait()
    for listener in listeners:
        await listener.aclose()
