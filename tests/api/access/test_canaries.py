"""Secrets that are planted in requests to all routes appear in no log, no answer and no row."""

import base64
import hashlib
from typing import Any

import pytest
import structlog

from tests.api.access.conftest import basic, bearer
from tests.api.rows import KEY
from vivero.api.access import passwords
from vivero.api.routes import ROUTES

CANARY = "canary-7c1f0e"
GUESS, PASSWORD = "canary-guess-51bd", "canary-password-9a27"
SECRETS = ("password", "currentPassword", "newPassword", "token", "secret")


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """No limits for failures; and hashes without the time that argon2 takes, for all passwords but planted ones."""
    monkeypatch.setattr("vivero.api.access.authentication.FAILURES_OF_ADDRESS", (10**6, 1.0))
    monkeypatch.setattr("vivero.api.access.authentication.FAILURES_OF_USER", (10**6, 1.0))
    verify = passwords.verify
    monkeypatch.setattr(passwords, "verify", lambda hash, given: given == PASSWORD and verify(hash, given))


def path(route):
    return "/".join(str(KEY) if segment.startswith("{") else segment for segment in route.path.split("/"))


def written(rows, *secrets):
    """The tables with one of these secrets in clear, in hexadecimal, or in Base64."""
    tables = rows.execute(
        "SELECT format('%I', table_name) FROM information_schema.tables"
        " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
    ).fetchall()
    forms = [form for secret in secrets for form in forms_of(secret)]
    found = []
    for (table,) in tables:
        has_one = "EXISTS (SELECT FROM unnest(%s::text[]) f WHERE strpos(t::text, f) > 0)"
        if rows.execute(f"SELECT count(*) FROM {table} t WHERE {has_one}", [forms]).fetchone()[0]:
            found.append(table)
    return found


def forms_of(secret):
    return secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode().rstrip("=")


async def test_credentials_appear_nowhere(people, rows, secured, provider, authenticator):
    people.user("ann", "admin")
    good = people.token("worker", "admin")
    forged = provider.token(sub=CANARY, aud=CANARY, name=CANARY)
    tried = [
        basic("ann", GUESS),
        basic(CANARY),
        bearer("vivero_" + CANARY),
        bearer(CANARY),
        bearer(forged),
        [(b"authorization", f"{CANARY} x".encode())],
        [(b"authorization", f"Basic {CANARY}".encode())],
        [(b"cookie", f"vivero_session={CANARY}; __Host-vivero_session={CANARY}".encode())],
        bearer(good),
    ]
    with structlog.testing.capture_logs() as logged:
        answers = [await secured(route.method, path(route), b"{", headers) for route in ROUTES for headers in tried]
        await authenticator.failed_sign_ins.write()
    said = "".join(f"{answer.headers}{answer.body}" for answer in answers) + str(logged)
    assert rows.execute("SELECT count(*) FROM audit_log WHERE description LIKE 'failed sign-in%'").fetchone() == (2,)
    assert {401, 400} <= {answer.status for answer in answers}
    planted = (CANARY, GUESS, good.removeprefix("vivero_"), forged.split(".")[2])
    assert [secret for secret in planted if secret in said] == []
    assert written(rows, *planted) == []


@pytest.mark.long
async def test_secrets_in_bodies_appear_nowhere(people, rows, secured):
    """All routes get bodies with secrets where some have them, with right and with wrong types."""
    root = bearer(people.token("root", "admin"))
    bodies: list[Any] = [
        dict.fromkeys(SECRETS, value)
        for value in (PASSWORD, [PASSWORD], {PASSWORD: PASSWORD}, CANARY * 200)
    ]  # fmt: skip
    bodies += [f'{{"password": "{PASSWORD}", '.encode(), {"username": "ann", "password": PASSWORD, "name": 1}]
    bodies += [{"username": "ann", "password": PASSWORD}]
    with structlog.testing.capture_logs() as logged:
        answers = [
            await secured(route.method, path(route), body, root)
            for route in ROUTES
            if route.method != "GET"
            for body in bodies
        ]
    assert {201, 400} <= {answer.status for answer in answers}
    said = "".join(f"{answer.headers}{answer.body}" for answer in answers) + str(logged)
    assert [secret for secret in (PASSWORD, CANARY) if secret in said] == []
    assert rows.execute("SELECT password_hash FROM users WHERE username = 'ann'").fetchone()[0].startswith("$argon2id$")
    assert written(rows, PASSWORD, CANARY) == []


async def test_a_changed_password_appears_nowhere(people, rows, secured):
    people.user("ann")
    rows.execute("UPDATE users SET password_hash = %s", [passwords.hash_password(PASSWORD)])
    body = {"currentPassword": PASSWORD, "newPassword": GUESS}
    with structlog.testing.capture_logs() as logged:
        for change in ({"currentPassword": CANARY}, {"newPassword": CANARY * 100}, {}):
            answer = await secured("PUT", "/v2/authentication/me/password", body | change, basic("ann", PASSWORD))
            assert not any(each in f"{answer.headers}{answer.body}" for each in (PASSWORD, GUESS, CANARY))
    assert answer.status == 204
    assert not any(each in str(logged) for each in (PASSWORD, GUESS, CANARY))
    assert written(rows, PASSWORD, GUESS, CANARY) == []


async def test_the_search_for_secrets_finds_them(rows):
    """Proof that the tests above could fail."""
    rows.put("users", username="a", password_hash=f"x{PASSWORD}x")
    rows.put("api_tokens", name="t", sha256=CANARY.encode(), roles=[], tenants=[])
    assert written(rows, PASSWORD) == ["users"]
    assert written(rows, CANARY) == ["api_tokens"]
    rows.put("api_tokens", name="u", sha256=hashlib.sha256(GUESS.encode()).digest(), roles=[], tenants=[])
    assert written(rows, GUESS) == []
