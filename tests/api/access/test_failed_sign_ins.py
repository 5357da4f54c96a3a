"""Failed sign-ins in the audit log: by HTTP Basic and on the page, bounded, and without what may be a password."""

import pytest
import trio

from tests.api.access.browsers import Visitor, application_of
from tests.api.access.conftest import PASSWORD, basic
from vivero.api.access import authentication, failed_sign_ins
from vivero.api.access.failed_sign_ins import FailedSignIns
from vivero.storage.postgres.errors import ConnectionLost

ME = "/v2/authentication/me"
USER = ("ANONYMOUS", "anonymous", "ADMIN", "USER")


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """These tests are about records. Hashes that take time would only make them slow."""
    monkeypatch.setattr("vivero.api.access.passwords.verify", lambda _hash, password: password == PASSWORD)


@pytest.fixture
def recorded(rows):
    """The failures in the audit log so far, the oldest first."""
    columns = "actor_type, actor_id, category, entity_type, entity_key, address, description"
    return lambda: rows.execute(
        f"SELECT {columns} FROM audit_log WHERE result = 'FAIL' AND operation = 'UNKNOWN' ORDER BY audit_log_key"
    ).fetchall()


async def test_basic_and_the_page_are_counted_together(stored, people, secured, authenticator, auth_settings, recorded):
    people.user("ann", "viewer")
    for _ in range(3):
        assert (await secured("GET", ME, headers=basic("ann", "wrong"))).status == 401
    await Visitor(application_of(stored, authenticator, auth_settings)).sign_in("ann", "wrong")
    assert recorded() == [], "no request writes"
    await authenticator.failed_sign_ins.write()
    await authenticator.failed_sign_ins.write()
    assert recorded() == [(*USER, "ann", None, "failed sign-in, 4 times")]


@pytest.mark.parametrize("name", [PASSWORD, "", "nobody", "x" * 5000, "ann\0"])
async def test_a_name_that_nobody_has_is_not_kept(people, secured, authenticator, rows, recorded, name):
    people.user("ann")
    await secured("GET", ME, headers=basic(name, "wrong"))
    await authenticator.failed_sign_ins.write()
    malformed = "\0" in name
    assert recorded() == [(*USER, "", None, "failed sign-in")] * (not malformed)
    assert name == "" or name not in str(rows.execute("SELECT * FROM audit_log").fetchall())


async def test_the_current_password_of_a_change_counts(people, secured, authenticator, recorded):
    people.user("ann")
    body = {"currentPassword": "wrong", "newPassword": "another battery"}
    assert (await secured("PUT", f"{ME}/password", body, basic("ann"))).status == 403
    await authenticator.failed_sign_ins.write()
    assert recorded() == [(*USER, "ann", None, "failed sign-in")]


async def test_what_succeeds_or_is_limited_is_no_failure(people, secured, authenticator, recorded):
    people.user("ann")
    assert (await secured("GET", ME, headers=basic("ann"))).status == 200
    for _ in range(authentication.FAILURES_OF_USER[0] + 5):
        await secured("GET", ME, headers=basic("ann", "wrong"))
    await authenticator.failed_sign_ins.write()
    assert recorded() == [(*USER, "ann", None, f"failed sign-in, {authentication.FAILURES_OF_USER[0]} times")]


async def test_equal_guesses_at_the_same_moment_count_each(people, secured, authenticator, recorded, monkeypatch):
    """A limit holds for them, too. Only a check that succeeds is shared."""
    most = authentication.FAILURES_OF_USER[0]
    monkeypatch.setattr(authentication, "FAILURES_OF_USER", (most, 1e-9))
    people.user("ann")
    answers = []

    async def guess():
        answers.append((await secured("GET", ME, headers=basic("ann", "wrong"))).status)

    async with trio.open_nursery() as nursery:
        for _ in range(most + 2):
            nursery.start_soon(guess)
    assert sorted(answers) == [401] * most + [429] * 2
    await authenticator.failed_sign_ins.write()
    assert recorded() == [(*USER, "ann", None, f"failed sign-in, {most} times")]


class Statements:
    """A pool whose connections count the statements and keep their records."""

    def __init__(self) -> None:
        self.calls = []
        self.away = False

    def connection(self):
        return self

    async def __aenter__(self) -> "Statements":
        if self.away:
            raise ConnectionLost("the database is away")
        return self

    async def __aexit__(self, *_) -> None:
        return None

    async def execute(self, _statement, values):
        self.calls.append(values[0])


async def test_a_flood_fills_neither_memory_nor_the_table(autojump_clock):
    """Ten thousand addresses in each of ten minutes: a hundred records at once, then two a minute."""
    pool = Statements()
    failures = FailedSignIns(pool)
    for _ in range(60):
        for number in range(10_000):
            failures.count("ann", f"address {number}")
        assert failures.pairs <= failed_sign_ins.MAX_COUNTED
        await failures.write()
        await trio.sleep(10)
    burst, per_s = failed_sign_ins.RECORDS
    assert len(pool.calls) <= 60, "one statement each time, at most"
    records = [record for call in pool.calls for record in call]
    assert len(records) <= 2 * (burst + 600 * per_s)
    counted = sum(1 if "times" not in one else int(one.split(", ")[1].split()[0]) for one in map(description, records))
    assert counted + failures.others == 600_000


def description(record):
    return record.split('"description":"')[1].split('"')[0]


async def test_they_are_recorded_every_few_seconds_and_at_the_end(autojump_clock):
    pool = Statements()
    failures = FailedSignIns(pool)
    failures.count("ann", "a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(failures.run)
        await trio.sleep(failed_sign_ins.EVERY_S * 1.5)
        assert len(pool.calls) == 1
        failures.count("bob", "b")
        nursery.cancel_scope.cancel()
    assert ['"entity_key":"bob"' in each for call in pool.calls for each in call] == [False, True]


async def test_an_outage_of_the_database_ends_nothing(autojump_clock):
    pool = Statements()
    failures = FailedSignIns(pool)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(failures.run)
        for pool.away in (True, False):
            failures.count("ann", "a")
            await trio.sleep(failed_sign_ins.EVERY_S * 1.5)
        nursery.cancel_scope.cancel()
    assert len(pool.calls) == 1
