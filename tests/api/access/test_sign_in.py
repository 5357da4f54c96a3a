"""Browsers sign in by password: sessions, their ends, who may write with them, and what foreign pages may not."""

import pytest
import structlog
from argon2 import PasswordHasher

from tests.api.access.browsers import Visitor, application_of
from tests.api.access.conftest import PASSWORD, basic, bearer
from vivero.api.access import authentication
from vivero.api.access.sessions import digest
from vivero.api.settings import ApiSettings
from vivero.web import application
from vivero.web.application import WebParts
from vivero.web.live import Hub
from vivero.web.sign_in.sign_in_pages import safe_next

SEARCH = "/v2/process-instances/search"


CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def password_hash(monkeypatch):
    """These tests are about sessions. A hash that takes time would only make them slow."""
    monkeypatch.setattr("vivero.api.access.passwords._hasher", CHEAP)
    return CHEAP.hash(PASSWORD)


@pytest.fixture
def app(stored, authenticator, auth_settings):
    return application_of(stored, authenticator, auth_settings)


@pytest.fixture
def visitor(app, people):
    people.user("ann", "viewer")
    return Visitor(app)


class TestSignIn:
    async def test_a_user_signs_in_and_the_api_knows_it(self, visitor):
        page = await visitor.sign_in("ann", PASSWORD)
        assert (page.status, page.headers["location"]) == (303, "/console/")
        assert await visitor.who() == "ann"
        assert (await visitor("GET", "/v2/authentication/me")).json["canLogout"]
        assert not (await visitor("GET", "/v2/authentication/me", basic("ann"))).json["canLogout"]

    async def test_the_page_has_no_script_and_needs_none(self, visitor):
        page = await visitor("GET", "/console/login")
        assert page.status == 200
        assert "<script" not in page.text
        assert "script-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize(
        ("name", "password"),
        [("ann", "wrong"), ("bob", PASSWORD), ("", ""), ("ann", "x" * 5000), ("ann\0", PASSWORD), ("ann", "\0")],
    )
    async def test_others_do_not(self, visitor, name, password):
        page = await visitor.sign_in(name, password)
        assert page.status == 401
        assert "is wrong" in page.text
        assert visitor.cookies == {}
        assert await visitor.who() == 401

    async def test_guesses_are_limited_as_for_basic(self, visitor):
        for _ in range(authentication.FAILURES_OF_USER[0]):
            await visitor.sign_in("ann", "wrong")
        page = await visitor.sign_in("ann", PASSWORD)
        assert page.status == 429
        assert "seconds" in page.text
        assert (await visitor("GET", "/v2/authentication/me", basic("ann"))).status == 429

    async def test_what_is_typed_is_no_markup(self, visitor):
        page = await visitor.sign_in("<img src=x>", "wrong", next='/console/"><b>')
        assert "<img src=x" not in page.text
        assert "<b>" not in page.text

    async def test_too_long_a_form_is_refused(self, visitor):
        assert (await visitor.sign_in("ann", "x" * 20_000)).status == 413

    async def test_three_languages(self, visitor):
        for asked, accepted, shown in [
            ("", b"pt-BR,pt;q=0.9,en;q=0.5", "Entrar"),
            ("", b"es", "Iniciar sesi\u00f3n"),
            ("", b"de", "Sign in"),
            ("?lang=es", b"pt", "Iniciar sesi\u00f3n"),
            ("?lang=xx", b"", "Sign in"),
        ]:
            page = await visitor("GET", f"/console/login{asked}", [(b"accept-language", accepted)])
            assert f"<h1>{shown}</h1>" in page.text

    async def test_without_authentication_there_is_nothing_to_sign_in(self, parts_without_access):
        page = await Visitor(parts_without_access)("GET", "/console/login")
        assert (page.status, page.headers["location"]) == (303, "/console/")


@pytest.fixture
def parts_without_access():
    return application.build(WebParts(ApiSettings(), Hub(1, 1), None))


class TestNext:
    @pytest.mark.parametrize("next", ["/console/", "/console/instances?state=ACTIVE&x=1", "/console/a/b"])
    def test_pages_of_the_console(self, next):
        assert safe_next(next) == next

    @pytest.mark.parametrize(
        "next",
        [
            *(
                None,
                "",
                "https://evil.example.com",
                "//evil.example.com/console/",
                "/v2/x",
                "/consoleevil",
                "/console/\\x",
            ),
            *("/console/\r\nx: y", "/console/" + "a" * 2000, "javascript:alert(1)", "\t/console/", "/console/\u00e9"),
        ],
    )
    def test_nothing_else(self, next):
        assert safe_next(next) == "/console/"

    async def test_after_the_sign_in(self, visitor):
        page = await visitor.sign_in("ann", PASSWORD, next="/console/tasks")
        assert page.headers["location"] == "/console/tasks"


class TestCookie:
    async def test_on_loopback(self, visitor):
        await visitor.sign_in("ann", PASSWORD)
        cookie = visitor.jar["vivero_session"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert not cookie["secure"]
        assert not cookie["domain"]

    @pytest.mark.parametrize("origin", ["https://vivero.example.com", "https://localhost:8443", "http://10.1.2.3:8080"])
    async def test_everywhere_else_it_is_secure(self, stored, authenticator, auth_settings, people, origin):
        people.user("ann")
        settings = ApiSettings(host="0.0.0.0")
        visitor = Visitor(application_of(stored, authenticator, auth_settings, settings=settings), origin)
        await visitor.sign_in("ann", PASSWORD)
        cookie = visitor.jar["__Host-vivero_session"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert cookie["secure"]
        assert await visitor.who() == "ann"
        if "localhost" not in origin:
            visitor.jar["vivero_session"] = visitor.jar.pop("__Host-vivero_session").value
            assert await visitor.who() == 401  # a neighbour may have planted it

    async def test_an_invented_one_is_nobody(self, visitor):
        for value in ["", "x", "a" * 43, "a" * 44, "\u00e9" * 43, "vivero_x"]:
            visitor.jar["vivero_session"] = value
            assert await visitor.who() == 401

    async def test_only_its_hash_is_stored_and_nothing_is_logged(self, visitor, rows):
        with structlog.testing.capture_logs() as logged:
            await visitor.sign_in("ann", PASSWORD)
            await visitor.who()
        id = visitor.cookies["vivero_session"]
        assert "signed in" in str(logged)
        assert id not in str(logged)
        assert PASSWORD not in str(logged)
        row = rows.execute("SELECT sha256, sessions::text FROM sessions").fetchone()
        assert bytes(row[0]) == digest(id.encode())
        assert id not in row[1]

    async def test_a_sign_in_gives_another_id(self, visitor, rows):
        await visitor.sign_in("ann", PASSWORD)
        first = visitor.cookies["vivero_session"]
        await visitor.sign_in("ann", PASSWORD)
        assert visitor.cookies["vivero_session"] != first
        assert rows.execute("SELECT count(*) FROM sessions").fetchone()[0] == 1

    async def test_a_header_says_more_than_a_session(self, visitor, people):
        people.user("bob")
        await visitor.sign_in("ann", PASSWORD)
        page = await visitor("GET", "/v2/authentication/me", basic("bob"))
        assert page.json["username"] == "bob"


class TestWrites:
    """A browser adds the cookie to what any page sends."""

    @pytest.mark.parametrize(
        "origin", [b"https://evil.example.com", b"null", b"http://localhost:9999", b"http://localhost"]
    )
    async def test_a_foreign_page_writes_nothing(self, visitor, origin):
        await visitor.sign_in("ann", PASSWORD)
        page = await visitor("POST", SEARCH, [(b"origin", origin)], body=b"{}", own=False, json=True)
        assert page.status == 403

    async def test_without_an_origin_nobody_knows_which_page_it_is(self, visitor):
        await visitor.sign_in("ann", PASSWORD)
        assert (await visitor("POST", SEARCH, body=b"{}", own=False, json=True)).status == 403

    @pytest.mark.parametrize("headers", [[(b"origin", b"http://localhost:8080")], [(b"x-vivero-csrf", b"1")]])
    async def test_our_page_writes(self, visitor, headers):
        await visitor.sign_in("ann", PASSWORD)
        assert (await visitor("POST", SEARCH, headers, body=b"{}", own=False, json=True)).status == 200

    async def test_the_check_is_made_for_remembered_sessions_too(self, visitor):
        await visitor.sign_in("ann", PASSWORD)
        assert await visitor.who() == "ann"
        assert (await visitor("POST", SEARCH, body=b"{}", own=False, json=True)).status == 403

    async def test_all_origins_is_no_permission_for_sessions(self, stored, authenticator, auth_settings, people):
        people.user("ann", "viewer")
        settings = ApiSettings(allowed_origins="*")
        visitor = Visitor(application_of(stored, authenticator, auth_settings, settings=settings))
        await visitor.sign_in("ann", PASSWORD)
        headers = [(b"origin", b"https://evil.example.com")]
        assert (await visitor("POST", SEARCH, headers, body=b"{}", own=False, json=True)).status == 403

    @pytest.mark.parametrize("path", ["login", "logout", "password"])
    async def test_forms_of_other_pages_are_refused(self, visitor, path):
        await visitor.sign_in("ann", PASSWORD)
        form = {"username": "ann", "password": PASSWORD, "current": PASSWORD, "new": "n" * 8, "repeat": "n" * 8}
        page = await visitor("POST", f"/console/{path}", form=form, own=False)
        assert page.status == 403
        assert await visitor.who() == "ann"

    @pytest.mark.parametrize(("mode", "asks"), [(b"cors", False), (b"navigate", True), (None, True)])
    async def test_a_script_without_a_session_makes_no_browser_ask_for_a_password(self, visitor, mode, asks):
        page = await visitor("GET", "/v2/topology", [] if mode is None else [(b"sec-fetch-mode", mode)])
        assert page.status == 401
        challenges = [value for name, value in page.all if name == b"www-authenticate"]
        assert any(value.startswith(b"Basic") for value in challenges) == asks
        assert challenges


class TestEnds:
    async def test_sign_out(self, visitor, authenticator):
        await visitor.sign_in("ann", PASSWORD)
        kept = visitor.cookies
        page = await visitor("POST", "/console/logout", form={})
        authenticator.forget()  # as the notification does
        assert (page.status, visitor.cookies) == (303, {})
        visitor.jar.load(kept)
        assert await visitor.who() == 401

    async def test_sign_out_here_leaves_other_browsers(self, visitor, app, authenticator):
        other = Visitor(app)
        await visitor.sign_in("ann", PASSWORD)
        await other.sign_in("ann", PASSWORD)
        await visitor("POST", "/console/logout", form={})
        authenticator.forget()
        assert (await visitor.who(), await other.who()) == (401, "ann")

    async def test_sign_out_everywhere(self, visitor, app, people, authenticator):
        people.user("bob")
        other, bob = Visitor(app), Visitor(app)
        await visitor.sign_in("ann", PASSWORD)
        await other.sign_in("ann", PASSWORD)
        await bob.sign_in("bob", PASSWORD)
        await visitor("POST", "/console/logout", form={"everywhere": "true"})
        authenticator.forget()
        assert (await other.who(), await bob.who()) == (401, "bob")

    @pytest.mark.parametrize(
        ("change", "left"),
        [
            ("expires_at = clock_timestamp() - interval '1 second'", 401),
            ("seen_at = clock_timestamp() - interval '61 minutes'", 401),
            ("seen_at = clock_timestamp() - interval '59 minutes'", "ann"),
        ],
    )
    async def test_time(self, visitor, rows, change, left):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute(f"UPDATE sessions SET {change}")
        assert await visitor.who() == left

    async def test_an_ended_session_makes_no_browser_ask_for_a_password(self, visitor, rows):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute("DELETE FROM sessions")
        page = await visitor("GET", "/v2/topology", [(b"sec-fetch-mode", b"cors")])
        assert page.status == 401
        assert [value[:6] for name, value in page.all if name == b"www-authenticate"] == [b"Bearer"]

    async def test_use_is_written_once_a_minute(self, visitor, rows, authenticator):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute("UPDATE sessions SET seen_at = clock_timestamp() - interval '2 minutes'")
        await visitor.who()
        seen = rows.execute(
            "SELECT seen_at > clock_timestamp() - interval '1 minute', seen_at FROM sessions"
        ).fetchone()
        assert seen[0]
        authenticator.forget()
        await visitor.who()
        assert rows.execute("SELECT seen_at FROM sessions").fetchone()[0] == seen[1]

    @pytest.mark.parametrize(
        "change",
        ["UPDATE users SET password_hash = 'x' WHERE username = 'ann'", "DELETE FROM users WHERE username = 'ann'"],
    )
    async def test_a_new_password_and_the_end_of_a_user(self, visitor, rows, change):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute(change)
        assert await visitor.who() == 401

    async def test_another_change_of_a_user_ends_nothing(self, visitor, rows):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute("UPDATE users SET name = 'Anna' WHERE username = 'ann'")
        assert await visitor.who() == "ann"

    async def test_all_nodes_hear_of_the_end_and_not_of_the_rest(self, visitor, rows):
        rows.execute("LISTEN vivero_identities")
        await visitor.sign_in("ann", PASSWORD)
        assert list(rows.notifies(timeout=0)) == []
        rows.execute("UPDATE sessions SET expires_at = clock_timestamp()")
        rows.execute("DELETE FROM sessions")
        assert list(rows.notifies(timeout=0)) == []
        await visitor.sign_in("ann", PASSWORD)
        await visitor("POST", "/console/logout", form={})
        assert [each.payload for each in rows.notifies(timeout=5, stop_after=1)] == ["sessions"]

    async def test_the_end_of_a_session_is_no_change_of_rights(self, visitor, authenticator, people, rows):
        """A node that hears of it forgets the sessions. Other callers stay remembered."""
        token = bearer(people.token("robot", "worker"))
        await visitor.sign_in("ann", PASSWORD)
        assert await visitor.who() == "ann"
        assert (await visitor("GET", "/v2/authentication/me", token)).status == 200
        for table in ("sessions", "api_tokens"):
            rows.execute(f"DELETE FROM {table}")
        authenticator.forget_sessions()
        assert await visitor.who() == 401
        assert (await visitor("GET", "/v2/authentication/me", token)).status == 200
        authenticator.forget()
        assert (await visitor("GET", "/v2/authentication/me", token)).status == 401

    async def test_a_user_has_so_many_sessions(self, app, people, rows, monkeypatch, authenticator):
        monkeypatch.setattr("vivero.storage.access.sessions.MAX_SESSIONS", 3)
        people.user("ann")
        visitors = [Visitor(app) for _ in range(4)]
        for visitor in visitors:
            await visitor.sign_in("ann", PASSWORD)
        authenticator.forget()
        assert [await visitor.who() for visitor in visitors] == [401, "ann", "ann", "ann"]


@pytest.fixture
def recorded(rows):
    """The records of the audit log so far, the oldest first."""
    columns = "actor_type, actor_id, entity_type, entity_key, operation, result, description"
    return lambda: rows.execute(f"SELECT {columns} FROM audit_log ORDER BY audit_log_key").fetchall()


class TestRecords:
    async def test_sign_ins(self, visitor, recorded):
        await visitor.sign_in("ann", PASSWORD)
        assert recorded() == [("USER", "ann", "USER", "ann", "UNKNOWN", "SUCCESS", "sign-in, PASSWORD")]

    async def test_sign_outs(self, visitor, app, recorded):
        other = Visitor(app)
        await visitor.sign_in("ann", PASSWORD)
        await other.sign_in("ann", PASSWORD)
        for form in ({}, {"everywhere": "true"}):
            await visitor("POST", "/console/logout", form=form)
            visitor = other
        user = ("USER", "ann", "USER", "ann", "UNKNOWN", "SUCCESS")
        assert recorded()[2:] == [(*user, "sign-out"), (*user, "sign-out everywhere")]

    async def test_a_sign_out_that_ends_nothing_is_not_recorded(self, visitor, rows, recorded):
        await visitor("POST", "/console/logout", form={})
        await visitor.sign_in("ann", PASSWORD)
        rows.execute("DELETE FROM sessions")
        for form in ({}, {"everywhere": "true"}):
            assert (await visitor("POST", "/console/logout", form=form)).status == 303
        assert len(recorded()) == 1

    async def test_a_sign_out_and_its_record_are_one_transaction(self, visitor, rows, recorded):
        await visitor.sign_in("ann", PASSWORD)
        rows.execute("ALTER TABLE audit_log ADD CONSTRAINT full_disk CHECK (description <> 'sign-out')")
        assert (await visitor("POST", "/console/logout", form={})).status == 503
        assert rows.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
        assert len(recorded()) == 1

    async def test_failed_ones_without_what_may_be_a_password(self, visitor, authenticator, recorded):
        await visitor.sign_in("ann", "wrong")
        await visitor.sign_in(PASSWORD, "ann")
        await authenticator.failed_sign_ins.write()
        assert recorded() == [
            ("ANONYMOUS", "anonymous", "USER", "ann", "UNKNOWN", "FAIL", "failed sign-in"),
            ("ANONYMOUS", "anonymous", "USER", "", "UNKNOWN", "FAIL", "failed sign-in"),
        ]

    async def test_a_change_of_the_password(self, visitor, recorded):
        await visitor.sign_in("ann", PASSWORD)
        form = {"current": PASSWORD, "new": "another battery", "repeat": "another battery"}
        assert (await visitor("POST", "/console/password", form=form)).status == 200
        assert recorded()[1:] == [
            ("USER", "ann", "USER", "ann", "UPDATE", "SUCCESS", "change of the own password"),
        ]

    async def test_the_api_finds_them(self, visitor, people):
        people.member("ROLE", "admin", "USER", "ann")
        await visitor.sign_in("ann", PASSWORD)
        page = await visitor("POST", "/v2/audit-logs/search", body=b"{}", json=True)
        assert [(each["operationType"], each["actorId"]) for each in page.json["items"]] == [("UNKNOWN", "ann")]


class TestPassword:
    NEW = "another battery"

    async def change(self, visitor, **form):
        fields = {"current": PASSWORD, "new": self.NEW, "repeat": self.NEW} | form
        return await visitor("POST", "/console/password", form=fields)

    async def test_a_user_changes_it(self, visitor, app, authenticator):
        other = Visitor(app)
        await visitor.sign_in("ann", PASSWORD)
        await other.sign_in("ann", PASSWORD)
        page = await self.change(visitor)
        authenticator.forget()
        assert (page.status, await visitor.who(), await other.who()) == (200, "ann", 401)
        assert (await other.sign_in("ann", PASSWORD)).status == 401
        assert (await other.sign_in("ann", self.NEW)).status == 303

    @pytest.mark.parametrize(
        ("form", "status", "said"),
        [
            ({"current": "wrong"}, 401, "is wrong"),
            ({"repeat": "other"}, 400, "differ"),
            ({"new": "short", "repeat": "short"}, 400, "8 to 1,024"),
        ],
    )
    async def test_only_if_all_is_right(self, visitor, rows, form, status, said):
        await visitor.sign_in("ann", PASSWORD)
        before = rows.execute("SELECT password_hash FROM users").fetchall()
        page = await self.change(visitor, **form)
        assert (page.status, said in page.text) == (status, True)
        assert rows.execute("SELECT password_hash FROM users").fetchall() == before

    async def test_nobody_else_does(self, visitor):
        assert (await self.change(visitor)).headers["location"] == "/console/login"
        assert (await visitor("GET", "/console/password")).headers["location"] == "/console/login"


async def test_the_stream_of_hints_needs_a_session(visitor):
    page = await visitor("GET", "/console/live?topic=x")
    assert page.status == 401
