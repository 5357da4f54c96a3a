"""Large bodies do not keep the event loop from others."""

import threading

import pytest

from vivero.api import large_bodies
from vivero.api.large_bodies import LARGE_BYTES
from vivero.engine.core.records.instances import InstanceReply

KEY = 2251799813685249


@pytest.mark.parametrize(("size", "elsewhere"), [(100, False), (LARGE_BYTES, True)])
async def test_large_bodies_are_decoded_and_encoded_in_a_thread(client, engine, monkeypatch, size, elsewhere):
    threads = []

    def noted(function):
        def call(*arguments):
            threads.append(threading.current_thread() is not threading.main_thread())
            return function(*arguments)

        return call

    for name in ("decode", "as_variables"):
        monkeypatch.setattr(large_bodies, name, noted(getattr(large_bodies, name)))
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 3, "<default>", (), None)
    body = {"processDefinitionId": "order", "variables": {"text": "x" * size, "fraction": 1.10}}
    answer = await client("POST", "/v2/process-instances", body)
    assert (answer.status, threads) == (200, [elsewhere] * 2)
    assert bytes(engine.command.variables["fraction"]) == b"1.1"


async def test_what_is_wrong_in_a_large_body_is_said(client, engine):
    answer = await client("POST", "/v2/process-instances", b'{"variables": {"a": "' + b"x" * LARGE_BYTES)
    assert (answer.status, answer.problem["title"], engine.appended) == (400, "Bad Request", [])
