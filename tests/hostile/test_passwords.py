"""Floods of passwords that must be hashed: guesses from very many addresses, and new users."""

import itertools
from collections import Counter

import pytest
import trio

from tests.hostile.test_computing import served
from tests.hostile.test_guesses import ME, PASSWORD, basic
from tests.process.http_client import Caller

PROGRAM_ENVIRONMENT = {
    "VIVERO_AUTH_MODE": "required",
    "VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD,
    "VIVERO_HTTP_TRUSTED_PROXIES": "127.0.0.1",
}
HEADERS = basic("admin", PASSWORD)
CLIENTS = 40
ANSWERS = CLIENTS
_numbers = itertools.count()


async def guess(caller):
    """Each guess of another user from another address."""
    number = next(_numbers)
    address = ("X-Forwarded-For", f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")
    return await caller.call("GET", ME, headers=(*basic(f"user-{number}", "guess"), address))


async def add_user(caller):
    user = {"username": f"u-{next(_numbers)}", "password": PASSWORD, "name": "n", "email": "n@example.com"}
    return await caller.call("POST", "/v2/users", user, headers=HEADERS)


FLOODS = {
    "guesses": ([guess], {401}),
    "new-users": ([add_user], {201}),
    "guesses-and-new-users": ([guess, add_user], {201, 401}),
}
"""The works of a flood, and their answers but 503: each kind gets turns."""


@pytest.mark.parametrize("name", FLOODS)
async def test_many_clients_whose_passwords_are_hashed(target, name):
    """Others, who are signed in, go on."""
    counts, (works, done) = Counter(), FLOODS[name]
    async with target.attacked(within_s=180), trio.open_nursery() as nursery:
        for work in works:
            for _ in range(CLIENTS):
                nursery.start_soon(flood, target.port, work, counts)
        await served(counts, ANSWERS, done)
        nursery.cancel_scope.cancel()
    assert set(counts) <= {201, 401, 503}, counts
    assert set(counts) >= done, counts


async def flood(port, work, counts):
    async with Caller(port) as caller:
        while True:
            answer = await work(caller)
            counts[answer.status] += 1
            if answer.status == 503:
                await trio.sleep(float(answer.headers["retry-after"]))
