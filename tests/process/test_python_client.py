"""The client for Python programs against a whole program: under asyncio, under Trio, and blocking."""

import asyncio
import inspect
import re

import httpx
import pytest
import trio

from tests.client_code import blocking
from tests.operations.tools import ROOT
from tests.process import client_scenario
from tests.process.client_scenario import working_day

DECISIONS = ROOT / "examples" / "decisions" / "discount.dmn"
PAGE = ROOT / "docs" / "client.md"


class LosesAnswers(httpx.AsyncHTTPTransport):
    """Sends each request, and loses the answer to the first try of each command, as a connection that is cut does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = set()
        self.lost = 0

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        key = request.headers.get("idempotency-key")
        if key is None or key in self.seen:
            return response
        self.seen.add(key)
        self.lost += 1
        await response.aread()
        await response.aclose()
        raise httpx.ReadError("the connection was cut")


class LosesAnswersBlocking(httpx.HTTPTransport):
    """The same for the client that blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = set()
        self.lost = 0

    def handle_request(self, request):
        response = super().handle_request(request)
        key = request.headers.get("idempotency-key")
        if key is None or key in self.seen:
            return response
        self.seen.add(key)
        self.lost += 1
        response.read()
        response.close()
        raise httpx.ReadError("the connection was cut")


def blocking_day(*arguments):
    """The scenario with the client that blocks."""
    space = {}
    exec(compile(blocking(inspect.getsource(client_scenario)), "the scenario without await", "exec"), space)
    space["working_day"](*arguments)


@pytest.mark.long
async def test_a_working_day_of_each_client(program):
    await program.restart()
    address = f"http://localhost:{program.port}"
    await working_day(address, "trio", DECISIONS, LosesAnswers())

    def under_asyncio():
        asyncio.run(working_day(address, "asyncio", DECISIONS, LosesAnswers()))

    await trio.to_thread.run_sync(under_asyncio)
    await trio.to_thread.run_sync(blocking_day, address, "blocking", DECISIONS, LosesAnswersBlocking())


async def test_the_examples_of_the_page(program, tmp_path, monkeypatch):
    await program.restart()
    monkeypatch.setenv("VIVERO_ADDRESS", f"http://localhost:{program.port}")
    monkeypatch.chdir(ROOT / "examples")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        await trio.to_thread.run_sync(exec, compile(block, str(PAGE), "exec"), {})
