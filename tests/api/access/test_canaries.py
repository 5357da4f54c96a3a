"""Secrets that are planted in requests appear in no log, no answer and no row."""

import structlog

from tests.api.access.conftest import basic, bearer
from vivero.api.routes import ROUTES

CANARY = "canary-7c1f0e"


async def test_credentials_appear_nowhere(people, rows, secured, provider, monkeypatch):
    monkeypatch.setattr("vivero.api.access.authentication.FAILURES_OF_ADDRESS", (10**6, 1.0))
    people.user("ann", "admin")
    good = people.token("worker", "admin")
    tried = [
        basic("ann", CANARY),
        basic(CANARY),
        bearer("vivero_" + CANARY),
        bearer(CANARY),
        bearer(provider.token(sub=CANARY, aud=CANARY, name=CANARY)),
        [(b"authorization", f"{CANARY} x".encode())],
        [(b"authorization", f"Basic {CANARY}".encode())],
        bearer(good),
    ]
    with structlog.testing.capture_logs() as logged:
        answers = [
            await secured(route.method, route.path.replace("{", "").replace("}", ""), b"{", headers)
            for route in ROUTES[:12]
            for headers in tried
        ]
    said = "".join(f"{answer.headers}{answer.body}" for answer in answers) + str(logged)
    assert len(answers) > 50
    assert CANARY not in said
    assert good[7:] not in said
    tables = rows.execute("SELECT string_agg(api_tokens::text, ' ') FROM api_tokens").fetchone()[0]
    assert good[7:] not in tables
    assert bytes(good[7:], "ascii").hex() not in tables
