"""Hashing: a few passwords at a time, bounded queues, and right passwords that are remembered."""

import threading

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.api.access import passwords
from vivero.api.access.passwords import AT_A_TIME, Hashing, Turn, Verifier, hash_in_thread, hash_password
from vivero.api.http.problems import Problem

PASSWORD = "correct horse battery"


@pytest.fixture
def checked(monkeypatch):
    """The passwords that are checked."""
    found = []

    def check(_hash, password):
        found.append(password)
        return password == PASSWORD

    monkeypatch.setattr(passwords, "verify", check)
    return found


class Work:
    """Work in threads that ends when the test says so."""

    def __init__(self, nursery) -> None:
        self._nursery, self._gate = nursery, threading.Semaphore(0)
        self.begun, self.refused = [], []

    async def begin(self, hashing, turn, name):
        self._nursery.start_soon(self._run, hashing, turn, name)
        await wait_all_tasks_blocked()

    async def _run(self, hashing, turn, name):
        try:
            await hashing.run(turn, self._block, name)
        except Problem as problem:
            self.refused.append((problem.status, dict(problem.headers).get(b"retry-after")))

    def _block(self, name):
        self.begun.append(name)
        self._gate.acquire()

    def end(self, times):
        for _ in range(times):
            self._gate.release()


async def test_known_passwords_come_first_and_guesses_last(monkeypatch):
    monkeypatch.setattr(passwords, "MAX_WAITING", 2)
    hashing = Hashing()
    async with trio.open_nursery() as nursery:
        work = Work(nursery)
        for number in range(AT_A_TIME):
            await work.begin(hashing, Turn.OTHER, f"first {number}")
        for turn in (Turn.OTHER, Turn.OTHER, Turn.NEW, Turn.KNOWN):
            await work.begin(hashing, turn, turn.name)
        await work.begin(hashing, Turn.OTHER, "too many")
        assert work.refused == [(503, b"1")]
        work.end(AT_A_TIME + 4)
    assert sorted(work.begun[:AT_A_TIME]) == [f"first {number}" for number in range(AT_A_TIME)]
    assert sorted(work.begun[AT_A_TIME : AT_A_TIME + 2]) == ["KNOWN", "NEW"]
    assert work.begun[AT_A_TIME + 2 :] == ["OTHER", "OTHER"]


@pytest.mark.parametrize("flood", [Turn.KNOWN, Turn.NEW])
async def test_those_who_come_first_leave_turns_to_others(monkeypatch, flood):
    """Sign-ins end while an administrator adds users without end."""
    monkeypatch.setattr(passwords, "AT_A_TIME", 1)
    hashing = Hashing()
    async with trio.open_nursery() as nursery:
        work = Work(nursery)
        for turn in (flood, Turn.OTHER, Turn.OTHER, *[flood] * 8):
            await work.begin(hashing, turn, turn.name)
        work.end(11)
    others = [number for number, name in enumerate(work.begun) if name == "OTHER"]
    assert others == [passwords.MAX_PASSED + 1, 2 * (passwords.MAX_PASSED + 1)]


async def test_whoever_leaves_gives_its_place_back(monkeypatch):
    monkeypatch.setattr(passwords, "MAX_WAITING", 1)
    hashing = Hashing()
    async with trio.open_nursery() as nursery:
        work = Work(nursery)
        for number in range(AT_A_TIME):
            await work.begin(hashing, Turn.NEW, f"first {number}")
        async with trio.open_nursery() as leaving:
            leaving.start_soon(hashing.run, Turn.OTHER, hash_password, PASSWORD)
            await wait_all_tasks_blocked()
            leaving.cancel_scope.cancel()
        await work.begin(hashing, Turn.OTHER, "next")
        work.end(AT_A_TIME + 1)
    assert (work.begun[-1], work.refused) == ("next", [])


async def test_new_passwords_and_checks_wait_together(monkeypatch, checked):
    monkeypatch.setattr(passwords, "MAX_WAITING", 0)
    monkeypatch.setattr(passwords, "AT_A_TIME", 0)
    for call in (lambda: hash_in_thread(PASSWORD), lambda: Verifier().verify("hash", "guess")):
        with pytest.raises(Problem, match="Too many passwords") as raised:
            await call()
        assert raised.value.status == 503


async def test_a_right_password_is_not_hashed_again_for_some_seconds(mock_clock, checked):
    verifier = Verifier(cache_s=5.0)
    for _ in range(2):
        assert await verifier.verify("hash", PASSWORD)
    assert len(checked) == 1
    assert await verifier.verify("another hash", PASSWORD)
    assert len(checked) == 2
    mock_clock.jump(5.0)
    assert await verifier.verify("hash", PASSWORD)
    assert len(checked) == 3


async def test_wrong_passwords_are_hashed_each_time(checked):
    verifier = Verifier(cache_s=5.0)
    for _ in range(2):
        assert not await verifier.verify("hash", "guess")
        assert not await verifier.verify(None, PASSWORD)
    assert len(checked) == 4


async def test_what_is_remembered_is_bounded_and_no_password(monkeypatch, checked):
    monkeypatch.setattr(passwords, "MAX_REMEMBERED", 2)
    verifier = Verifier(cache_s=5.0)
    for number in (0, 1, 1, 2, 0):  # the third forgets the first two
        assert await verifier.verify(f"hash {number}", PASSWORD)
    assert len(checked) == 4
    assert PASSWORD not in repr(vars(verifier))
