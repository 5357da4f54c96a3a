"""Guesses of credentials, also from the address that others share: right credentials are let in."""

import base64
import itertools

import pytest
import trio

from tests.process.http_client import Caller
from vivero.api.access.authentication import FAILURES_OF_ADDRESS

PASSWORD = "correct horse battery"
PROGRAM_ENVIRONMENT = {"VIVERO_AUTH_MODE": "required", "VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD}
SAME, OTHER = None, "127.0.0.2"
GUESSERS, GUESSES, REQUESTS = 4, 75, 100
ME = "/v2/authentication/me"
numbers = itertools.count()


def basic(username, password):
    return [("Authorization", "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode())]


def bearer(token):
    return [("Authorization", f"Bearer {token}")]


ADMIN = HEADERS = basic("admin", PASSWORD)


async def guess(port, address, headers_of, answers):
    async with Caller(port, address=address) as caller:
        for number in range(GUESSES):
            answers.append((await caller.call("GET", ME, headers=headers_of(number))).status)


@pytest.mark.parametrize("address", [SAME, OTHER], ids=["of-others", "of-nobody-else"])
@pytest.mark.parametrize(
    "wrong",
    [lambda number: bearer(f"vivero_{number:043}"), lambda number: basic(f"user-{number % 9}", "guess")],
    ids=["tokens", "passwords"],
)
async def test_guesses_lock_nobody_out(target, wrong, address):
    made = await target.call("POST", "/v2/tokens", {"name": f"worker-{next(numbers)}", "roles": ["worker"]})
    assert made.status == 201, made
    token, guessed, right = bearer(made.json["token"]), [], []
    began = trio.current_time()
    async with target.attacked(), Caller(target.port) as caller, trio.open_nursery() as nursery:
        for _ in range(GUESSERS):
            nursery.start_soon(guess, target.port, address, wrong, guessed)
        for number in range(REQUESTS):
            right.append((await caller.call("GET", ME, headers=(token, ADMIN)[number % 2])).status)
            if number % 10 == 0:  # a change of users empties the memory of verified credentials
                user = {"username": f"new-{next(numbers)}", "password": PASSWORD, "name": "n", "email": "n@example.com"}
                right.append((await caller.call("POST", "/v2/users", user, headers=ADMIN)).status - 1)
    assert set(right) == {200}
    assert set(guessed) <= {401, 429, 503}
    at_once, a_second = FAILURES_OF_ADDRESS
    most = at_once + a_second * (trio.current_time() - began) + 1
    assert guessed.count(401) <= GUESSERS * most  # equal guesses at one time are one
