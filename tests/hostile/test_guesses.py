"""Guesses of credentials from the address that others share: right credentials are let in."""

import base64

import pytest
import trio

from tests.hostile.conftest import UNSAFE
from tests.process.http_client import Caller
from tests.process.program import Program

PASSWORD = "correct horse battery"
GUESSERS, GUESSES, REQUESTS = 4, 75, 100
ME = "/v2/authentication/me"


@pytest.fixture
def program(tmp_path, database):
    environment = UNSAFE | {"VIVERO_AUTH_MODE": "required", "VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD}
    made = Program(tmp_path, "guesses", ("--database-url", database), environment)
    yield made
    made.end()


def basic(username, password):
    return [("Authorization", "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode())]


def bearer(token):
    return [("Authorization", f"Bearer {token}")]


async def guess(port, headers_of, answers):
    async with Caller(port) as caller:
        for number in range(GUESSES):
            answers.append((await caller.call("GET", ME, headers=headers_of(number))).status)


@pytest.mark.parametrize(
    "wrong",
    [lambda number: bearer(f"vivero_{number:043}"), lambda number: basic(f"user-{number % 9}", "guess")],
    ids=["tokens", "passwords"],
)
async def test_guesses_lock_nobody_out(program, wrong):
    await program.restart()
    admin = basic("admin", PASSWORD)
    async with Caller(program.port) as caller:
        made = await caller.call("POST", "/v2/tokens", {"name": "worker", "roles": ["worker"]}, headers=admin)
        assert made.status == 201, made
        token = bearer(made.json["token"])
        guessed, right = [], []
        async with trio.open_nursery() as nursery:
            for _ in range(GUESSERS):
                nursery.start_soon(guess, program.port, wrong, guessed)
            for number in range(REQUESTS):
                right.append((await caller.call("GET", ME, headers=(token, admin)[number % 2])).status)
                if number % 10 == 0:  # a change of users empties the memory of verified credentials
                    user = {"username": f"new-{number}", "password": PASSWORD, "name": "n", "email": "n@example.com"}
                    right.append((await caller.call("POST", "/v2/users", user, headers=admin)).status - 1)
    assert set(right) == {200}
    assert set(guessed) <= {401, 429, 503}
    assert guessed.count(401) < len(guessed)
