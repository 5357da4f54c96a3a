"""Authentication by password, API token and tokens of an identity provider, and its refusals."""

from codecs import BOM_UTF8
from datetime import UTC, datetime, timedelta

import pytest
import structlog
import trio

from tests.api.access.conftest import ISSUER, PASSWORD, basic, bearer
from vivero.api.access import authentication, passwords, signing_keys
from vivero.api.access.accepted import ACCEPTED_S, AcceptedPasswords
from vivero.api.access.verified import KeysUnavailable

ME = "/v2/authentication/me"


@pytest.fixture
def checked(monkeypatch):
    """The passwords that are checked."""
    found, verify = [], passwords.verify

    def check(*given):
        found.append(given)
        return verify(*given)

    monkeypatch.setattr(passwords, "verify", check)
    return found


async def who(client, headers):
    answer = await client("GET", ME, headers=headers)
    return answer.json["username"] if answer.status == 200 else answer.status


class TestWithoutCredentials:
    async def test_nobody_gets_in(self, people, secured):
        people.user("ann")
        for headers in [
            [],
            [(b"authorization", b"")],
            [(b"authorization", b"Basic")],
            [(b"authorization", b"Basic !!!")],
            [(b"authorization", b"Basic YQ==")],
            [(b"authorization", b"Basic /w==")],
            [(b"authorization", b"Digest x")],
            [(b"authorization", b"Bearer ")],
            [(b"authorization", b"Bearer \xff")],
            [(b"authorization", b"Bearer " + b"x" * 20_000)],
            basic("ann") + basic("ann"),
        ]:
            answer = await secured("GET", ME, headers=headers)
            assert (answer.status, answer.problem["title"]) == (401, "Unauthorized")
            assert answer.headers[b"www-authenticate"]

    async def test_health_and_licence_are_public(self, secured):
        assert (await secured("GET", "/v2/status")).status == 204
        assert (await secured("GET", "/v2/license")).status == 200

    async def test_the_body_is_not_read(self, secured):
        """Authentication comes before validation: the body is not even JSON."""
        assert (await secured("POST", "/v2/process-instances", b"{")).status == 401


class TestPasswords:
    async def test_a_user_gets_in(self, people, secured):
        people.user("ann", "viewer")
        answer = await secured("GET", ME, headers=basic("ann"))
        assert answer.json["username"] == "ann"
        assert answer.json["displayName"] == "Ann"
        assert answer.json["roles"] == ["viewer"]

    async def test_others_do_not(self, people, secured):
        people.user("ann")
        for name, password in [("ann", "wrong"), ("ann", ""), ("bob", PASSWORD), ("", ""), ("ann", "x" * 5000)]:
            assert await who(secured, basic(name, password)) == 401

    async def test_a_check_is_remembered(self, people, secured, authenticator, checked):
        people.user("ann")
        for _ in range(3):
            assert await who(secured, basic("ann")) == "ann"
        assert len(checked) == 1
        authenticator.forget()  # the rights are read again, and the password is not hashed again
        assert await who(secured, basic("ann")) == "ann"
        assert len(checked) == 1

    async def test_a_changed_password_is_checked_again(self, people, rows, secured, authenticator):
        people.user("ann")
        assert await who(secured, basic("ann")) == "ann"
        rows.execute("UPDATE users SET password_hash = %s", [passwords.hash_password("another one")])
        authenticator.forget()
        assert await who(secured, basic("ann")) == 401
        assert await who(secured, basic("ann", "another one")) == "ann"

    async def test_what_is_remembered_ends_with_a_change(self, people, rows, secured, authenticator):
        people.user("ann")
        assert await who(secured, basic("ann")) == "ann"
        rows.execute("DELETE FROM users")
        authenticator.forget()
        assert await who(secured, basic("ann")) == 401

    async def test_a_change_during_a_check_is_not_forgotten(self, people, secured, authenticator, monkeypatch):
        people.user("ann")
        verify = passwords.verify

        def change(*given):
            trio.from_thread.run_sync(authenticator.forget)
            return verify(*given)

        monkeypatch.setattr(passwords, "verify", change)
        assert await who(secured, basic("ann")) == "ann"
        assert authenticator._remembered == {}

    async def test_nothing_remembered_contains_the_password(self, people, secured, authenticator):
        people.user("ann")
        await who(secured, basic("ann"))
        assert len(authenticator._remembered) == 1
        assert PASSWORD not in repr(authenticator._remembered)

    async def test_requests_at_the_same_time_share_one_check(self, people, secured, checked):
        people.user("ann")
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(who, secured, basic("ann"))
        assert len(checked) == 1

    async def test_guesses_are_limited(self, people, secured, monkeypatch):
        people.user("ann")
        monkeypatch.setattr(passwords, "verify", lambda *_: False)
        answers = [await who(secured, basic("ann", f"guess {i}")) for i in range(12)]
        assert answers == [401] * 10 + [429] * 2
        answer = await secured("GET", ME, headers=basic("ann", "again"))
        assert answer.problem["title"] == "Too Many Requests"
        assert 1 <= int(answer.headers[b"retry-after"]) <= 10

    async def test_an_unknown_user_costs_a_check_too(self, secured, checked):
        assert await who(secured, basic("nobody")) == 401
        assert len(checked) == 1


class TestGuessesFromASharedAddress:
    @pytest.fixture(autouse=True)
    def used_up_for_ever(self, monkeypatch):
        """Limits that time does not lift, and hashes that cost nothing."""
        for name in ("FAILURES_OF_USER", "FAILURES_OF_ADDRESS"):
            monkeypatch.setattr(authentication, name, (getattr(authentication, name)[0], 1e-9))
        monkeypatch.setattr(passwords, "verify", lambda _hash, password: password == PASSWORD)

    async def test_no_right_token_is_refused(self, people, secured, provider, authenticator):
        people.user("ann")
        people.member("ROLE", "viewer", "USER", "eve")
        token = people.token("billing", "worker")
        wrong = [await who(secured, bearer(f"vivero_{number:043}")) for number in range(60)]
        assert wrong == [401] * 50 + [429] * 10
        assert await who(secured, bearer("a.b.c")) == 429
        assert await who(secured, bearer(token)) == "billing"
        assert await who(secured, bearer(provider.token(sub="eve"))) == "eve"
        assert await who(secured, basic("ann")) == "ann"
        authenticator.forget()
        assert await who(secured, bearer(token)) == "billing"

    async def test_a_password_that_was_right_lately_passes(self, people, secured, authenticator):
        people.user("ann")
        people.user("bob")
        assert await who(secured, basic("ann")) == "ann"
        wrong = [await who(secured, basic(f"ann{number % 9 or ''}", f"guess {number}")) for number in range(60)]
        assert wrong == [401] * 50 + [429] * 10
        authenticator.forget()
        assert await who(secured, basic("ann")) == "ann"
        assert await who(secured, basic("bob")) == 429
        assert await who(secured, basic("ann", "guess")) == 429

    async def test_a_password_that_has_changed_passes_once(self, people, rows, secured, authenticator, monkeypatch):
        people.user("ann")
        assert await who(secured, basic("ann")) == "ann"
        for number in range(authentication.FAILURES_OF_USER[0]):
            assert await who(secured, basic("ann", f"guess {number}")) == 401
        monkeypatch.setattr(passwords, "verify", lambda *_: False)
        rows.execute("UPDATE users SET password_hash = 'another'")
        authenticator.forget()
        assert [await who(secured, basic("ann")) for _ in range(2)] == [401, 429]


def test_the_memory_of_accepted_passwords_forgets(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(trio, "current_time", lambda: now[0])
    known = AcceptedPasswords(most=2)
    for name in ("ann", "bob", "eve"):
        known.add(name, PASSWORD)
    assert [known.passes(name, PASSWORD) for name in ("ann", "bob", "eve", "joe")] == [False, True, True, False]
    assert not known.passes("bob", "x" + PASSWORD)
    known.discard("bob")
    assert not known.passes("bob", PASSWORD)
    now[0] = ACCEPTED_S + 1
    assert not known.passes("eve", PASSWORD)


class TestApiTokens:
    async def test_a_token_gets_in(self, people, secured, rows):
        answer = await secured("GET", ME, headers=bearer(people.token("billing", "worker")))
        assert (answer.json["username"], answer.json["roles"]) == ("billing", ["worker"])
        assert rows.execute("SELECT last_used_at IS NOT NULL FROM api_tokens").fetchone()[0]

    async def test_the_last_use_is_written_rarely(self, people, secured, rows, authenticator):
        token = people.token("billing", "worker")
        rows.execute("UPDATE api_tokens SET last_used_at = now() - interval '9 minutes'")
        assert await who(secured, bearer(token)) == "billing"
        assert rows.execute("SELECT last_used_at < now() - interval '8 minutes' FROM api_tokens").fetchone()[0]

    async def test_an_expired_token_does_not(self, people, secured):
        token = people.token("billing", "worker", expires_at=datetime.now(UTC) - timedelta(seconds=1))
        assert await who(secured, bearer(token)) == 401

    async def test_a_token_is_not_remembered_beyond_its_expiry(self, people, secured, authenticator):
        token = people.token("billing", "worker", expires_at=datetime.now(UTC) + timedelta(seconds=2))
        assert await who(secured, bearer(token)) == "billing"
        (remembered,) = authenticator._remembered.values()
        assert remembered.until <= trio.current_time() + 2

    async def test_a_revoked_token_does_not(self, people, secured, rows, authenticator):
        token = people.token("billing", "worker")
        assert await who(secured, bearer(token)) == "billing"
        rows.execute("DELETE FROM api_tokens")
        authenticator.forget()
        assert await who(secured, bearer(token)) == 401

    async def test_the_database_has_no_token(self, people, rows):
        token = people.token("billing", "worker")
        (stored,) = rows.execute("SELECT api_tokens::text FROM api_tokens").fetchone()
        assert token.removeprefix("vivero_") not in stored

    async def test_a_role_that_does_not_exist_gives_nothing(self, people, secured):
        answer = await secured("GET", ME, headers=bearer(people.token("billing", "no-such-role")))
        assert answer.json["roles"] == []


class TestTokensOfAnIdentityProvider:
    @pytest.mark.parametrize("key", ["rsa", "ec"])
    async def test_a_valid_token_gets_in(self, people, secured, provider, key):
        people.member("ROLE", "operator", "USER", "ann")
        answer = await secured("GET", ME, headers=bearer(provider.token(key, name="Ann A.", email="a@example.com")))
        assert (answer.json["username"], answer.json["displayName"]) == ("ann", "Ann A.")
        assert answer.json["roles"] == ["operator"]

    async def test_others_do_not(self, secured, bad_tokens):
        assert {what: await who(secured, bearer(token)) for what, token in bad_tokens.items()} == dict.fromkeys(
            bad_tokens, 401
        )

    async def test_the_log_says_why_without_the_token(self, secured, bad_tokens):
        with structlog.testing.capture_logs() as logged:
            await who(secured, bearer(bad_tokens["wrong audience"]))
        reasons = [entry["reason"] for entry in logged if entry["event"] != "request"]
        assert reasons == ["BadToken: it is not valid: InvalidAudienceError"]
        assert bad_tokens["wrong audience"][10:] not in str(logged)

    async def test_a_client(self, people, secured, provider):
        people.member("ROLE", "worker", "CLIENT", "robot")
        people.member("ROLE", "admin", "USER", "robot")
        answer = await secured("GET", ME, headers=bearer(provider.token(client_id="robot")))
        assert (answer.json["username"], answer.json["roles"]) == ("robot", ["worker"])

    async def test_mapping_rules_match_claims(self, people, rows, secured, provider):
        rows.put("mapping_rules", mapping_rule_id="ops", name="Ops", claim_name="realm.roles", claim_value="ops")
        rows.put("mapping_rules", mapping_rule_id="boss", name="Boss", claim_name="realm.roles", claim_value="boss")
        people.member("GROUP", "staff", "MAPPING_RULE", "ops")
        people.member("ROLE", "operator", "GROUP", "staff")
        people.member("ROLE", "admin", "MAPPING_RULE", "boss")
        token = provider.token(realm={"roles": ["ops", "x"]}, boss="realm.roles")
        answer = await secured("GET", ME, headers=bearer(token))
        assert (answer.json["groups"], answer.json["roles"]) == (["staff"], ["operator"])

    async def test_keys_are_found_by_discovery_and_read_once(self, secured, provider):
        for i in range(3):
            assert await who(secured, bearer(provider.token(jti=str(i)))) == "ann"
        assert provider.fetched == [f"{ISSUER}/.well-known/openid-configuration", f"{ISSUER}/keys"]

    async def test_a_new_key_is_found_and_an_old_one_forgotten(self, secured, provider, authenticator, monkeypatch):
        provider.published = ["rsa"]
        assert await who(secured, bearer(provider.token("rsa"))) == "ann"
        provider.published = ["ec"]
        assert await who(secured, bearer(provider.token("ec"))) == 401  # the pause between two attempts
        monkeypatch.setattr(signing_keys, "PAUSE_S", 0.0)
        assert await who(secured, bearer(provider.token("ec", jti="2"))) == "ann"
        assert await who(secured, bearer(provider.token("rsa", jti="2"))) == 401

    async def test_invented_keys_do_not_make_us_ask_the_provider(self, secured, provider):
        for i in range(5):
            assert await who(secured, bearer(provider.token(headers={"kid": f"x{i}"}))) == 401
        assert len(provider.fetched) == 2

    async def test_a_provider_that_is_down_before_the_first_token(self, secured, provider):
        provider.down = True
        assert await who(secured, bearer(provider.token())) == 503

    async def test_a_provider_that_goes_down_later(self, secured, provider, authenticator, monkeypatch):
        assert await who(secured, bearer(provider.token())) == "ann"
        provider.down = True
        monkeypatch.setattr(signing_keys, "FRESH_S", -1.0)
        assert await who(secured, bearer(provider.token(jti="2"))) == "ann"
        monkeypatch.setattr(signing_keys, "USABLE_S", -1.0)
        assert await who(secured, bearer(provider.token(jti="3"))) == 503


async def test_keys_come_from_a_file(tmp_path, provider):
    (tmp_path / "keys.json").write_bytes(BOM_UTF8 + provider.jwks)  # as some editors save
    keys = signing_keys.SigningKeys(ISSUER, str(tmp_path / "keys.json"))
    assert (await keys.get("rsa")).algorithm_name == "RS256"
    assert await keys.get("other") is None


@pytest.mark.parametrize("url", ["http://login.example.com/keys", "file:///etc/passwd", "ftp://localhost/x"])
async def test_keys_come_by_https_only(url):
    with pytest.raises(KeysUnavailable, match="must begin with https"):
        await signing_keys.fetch(url)


async def test_the_discovery_document_of_another_issuer_is_refused():
    async def fetch(url):
        return b'{"issuer": "https://evil.example.com", "jwks_uri": "https://evil.example.com/keys"}'

    with pytest.raises(KeysUnavailable):
        await signing_keys.SigningKeys(ISSUER, fetch=fetch).get("rsa")


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"keys": []}'])
def test_keys_that_cannot_be_decoded(text):
    with pytest.raises(KeysUnavailable):
        signing_keys.parse_keys(text)


def test_a_shared_secret_is_no_key():
    assert signing_keys.parse_keys(b'{"keys": [{"kty": "oct", "k": "%b", "kid": "s"}]}' % (b"A" * 86)) == {}
