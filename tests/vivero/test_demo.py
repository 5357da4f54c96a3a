"""`vivero demo`: the show runs to its end, again on the same data, and stays up when it should."""

import signal
import socket

import httpx
import pytest

from vivero import demo

pytestmark = pytest.mark.process


def test_the_show_ends_well_and_can_be_given_again(root, vivero):
    for run in (1, 2):
        program = vivero("demo", "--exit", "--port", "0", "--data-dir", str(root), forked=run == 2)
        assert program.ends(timeout=90) == 0, program.logged
        said = program.said
        assert "order version 1, key " in said
        assert said.count("COMPLETED") == len(demo.ORDERS), run
        assert "incident" in said
        assert "the card has expired" in said
        for command in ("PROCESS_INSTANCE_CREATION:CREATE", "JOB:COMPLETE", "JOB:FAIL", "INCIDENT:RESOLVE"):
            assert command in said
        for variable in ("total     70", "parcel ", "payment "):
            assert variable in said
        assert f"{len(demo.ORDERS)} orders have ended" in said
        assert program.logged == ""


def test_it_stays_up_with_its_workers_until_told(root, vivero, eventually):
    program = vivero("demo", "--port", "0", "--data-dir", str(root))
    eventually(lambda: "Ctrl-C stops the server" in program.said or program.process.poll() is not None, timeout=90)
    assert program.process.poll() is None, program.logged
    order = {"customer": "You", "card": "4711", "items": [{"sku": "rose", "price": 12, "quantity": 2}]}
    body = {"processDefinitionId": "order", "variables": order, "awaitCompletion": True, "requestTimeout": 30000}
    answer = httpx.post(f"{program.address}/v2/process-instances", json=body, timeout=40).json()
    assert answer["variables"]["payment"]["amount"] == 24
    program.process.send_signal(signal.SIGTERM)
    assert program.ends() == 0, program.logged


def test_a_port_that_is_taken_is_one_line(root, vivero):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        program = vivero("demo", "--exit", "--port", str(taken.getsockname()[1]), "--data-dir", str(root))
        assert program.ends() == 1
    assert program.logged.startswith("Error: cannot listen on port ")
    assert len(program.logged.splitlines()) == 1
