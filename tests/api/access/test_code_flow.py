"""Browsers sign in at an identity provider, which a stand-in with keys of its own plays."""

import base64
import json
from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import structlog

from tests.api.access.browsers import Visitor, application_of
from tests.api.access.conftest import ISSUER
from vivero.api.access.authentication import Authenticator
from vivero.api.access.code_flow import CodeFlow, ProviderFailed, challenge
from vivero.api.access.signing_keys import SigningKeys

CLIENT, SECRET = "vivero-console", "s:cret/ü"
TOKEN_URL = f"{ISSUER}/token"


class StandIn:
    """The provider's pages and its token endpoint. `claims` change the identity token; `document` the discovery."""

    def __init__(self, provider) -> None:
        self.provider = provider
        self.codes = {}
        self.claims, self.document = {}, {}
        self.posted = []
        self.answer = None

    async def fetch(self, url):
        if not url.endswith("/.well-known/openid-configuration"):
            return await self.provider.fetch(url)
        document = json.loads(await self.provider.fetch(url))
        document |= {"authorization_endpoint": f"{ISSUER}/authorize", "token_endpoint": TOKEN_URL}
        return json.dumps(document | self.document).encode()

    def authorize(self, url, code="the-code"):
        """The browser signs in there; returns the query with which it comes back."""
        assert url.startswith(f"{ISSUER}/authorize?")
        asked = {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": ISSUER}

    async def post(self, url, form, headers):
        self.posted.append((url, form, headers))
        if self.answer is not None:
            return self.answer
        asked = self.codes.pop(form["code"], None)
        if asked is None or challenge(form["code_verifier"]) != asked["code_challenge"]:
            raise ProviderFailed("invalid_grant")
        assert form["redirect_uri"] == asked["redirect_uri"]
        claims = {"aud": CLIENT, "nonce": asked["nonce"], "azp": CLIENT} | self.claims
        return json.dumps({"id_token": self.provider.token(**claims), "access_token": "x"}).encode()


@pytest.fixture
def stand_in(provider):
    return StandIn(provider)


@pytest.fixture
def flow_settings(auth_settings):
    return replace(auth_settings, oidc_client_id=CLIENT, oidc_client_secret=SECRET)


@pytest.fixture
def make_visitor(stored, authenticator, stand_in, flow_settings):
    def make(origin="http://localhost:8080", **changes):
        settings = replace(flow_settings, **changes)
        keys = SigningKeys(ISSUER, fetch=stand_in.provider.fetch)
        flow = CodeFlow(settings, keys, stand_in.fetch, stand_in.post)
        known = Authenticator(settings, stored.reads.pool, keys) if changes else authenticator
        return Visitor(application_of(stored, known, settings, flow), origin)

    return make


@pytest.fixture
def visitor(make_visitor):
    return make_visitor()


async def go(visitor, stand_in, **changes):
    """From the page of sign-in to the provider and back. `changes` to what the browser comes back with."""
    there = await visitor("GET", "/console/login/provider?next=/console/tasks")
    assert there.status == 303
    back = stand_in.authorize(there.headers["location"]) | changes
    return await visitor("GET", "/console/login/return?" + urlencode({k: v for k, v in back.items() if v is not None}))


async def test_a_user_signs_in(visitor, stand_in, people):
    people.rows.put("mapping_rules", mapping_rule_id="ops", name="Ops", claim_name="groups", claim_value="ops")
    people.member("ROLE", "operator", "MAPPING_RULE", "ops")
    stand_in.claims = {"groups": ["ops", "staff"], "name": "Ann A."}
    page = await go(visitor, stand_in)
    assert page.status == 200
    assert 'http-equiv="refresh" content="0; url=/console/tasks"' in page.text
    me = (await visitor("GET", "/v2/authentication/me")).json
    assert (me["username"], me["displayName"], me["roles"]) == ("ann", "Ann A.", ["operator"])


async def test_a_user_whose_name_a_local_user_has_is_told_so(visitor, stand_in, people, rows):
    people.user("ann", "admin")
    page = await go(visitor, stand_in)
    assert page.status == 403
    assert "Another user of this server has your name." in page.text
    assert "vivero_sign_in" not in visitor.cookies
    assert rows.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0


async def test_head_signs_nobody_in(visitor, stand_in, people, rows):
    """A mail scanner or a preview may follow the link of the provider before the browser does."""
    there = await visitor("GET", "/console/login/provider?next=/console/tasks")
    back = urlencode(stand_in.authorize(there.headers["location"]))
    looked = await visitor("HEAD", f"/console/login/return?{back}")
    assert (looked.status, rows.execute("SELECT count(*) FROM sessions").fetchone()[0]) == (405, 0)
    assert (await visitor("GET", f"/console/login/return?{back}")).status == 200


async def test_the_cookies(visitor, stand_in):
    await visitor("GET", "/console/login/provider")
    cookie = visitor.jar["vivero_sign_in"]
    assert (cookie["samesite"], cookie["httponly"], cookie["max-age"]) == ("Lax", True, "600")
    await go(visitor, stand_in)
    assert visitor.jar["vivero_session"]["samesite"] == "Strict"
    assert "vivero_sign_in" not in visitor.cookies


async def test_the_page_of_sign_in_names_the_provider(visitor):
    page = await visitor("GET", "/console/login?next=/console/tasks")
    assert "Sign in with login.example.com" in page.text
    assert "/console/login/provider?next=%2Fconsole%2Ftasks" in page.text or "?next=/console/tasks" in page.text


async def test_the_secret_goes_to_the_token_endpoint_alone(visitor, stand_in):
    with structlog.testing.capture_logs() as logged:
        await go(visitor, stand_in)
    ((url, form, headers),) = stand_in.posted
    assert url == TOKEN_URL
    assert base64.b64decode(headers["authorization"].removeprefix("Basic ")) == b"vivero-console:s%3Acret%2F%C3%BC"
    assert SECRET not in str(form)
    assert SECRET not in str(logged)


async def test_a_secret_in_the_form_if_the_provider_wants_that(visitor, stand_in):
    stand_in.document = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    await go(visitor, stand_in)
    assert stand_in.posted[0][1]["client_secret"] == SECRET
    assert "authorization" not in stand_in.posted[0][2]


async def test_a_public_client(make_visitor, stand_in):
    visitor = make_visitor(oidc_client_secret=None)
    await go(visitor, stand_in)
    assert await visitor.who() == "ann"
    assert "client_secret" not in stand_in.posted[0][1]


@pytest.mark.parametrize(
    ("origin", "public_url", "expected"),
    [
        ("http://localhost:8080", "", "http://localhost:8080"),
        ("http://localhost:8080", "https://vivero.example.com/", "https://vivero.example.com"),
    ],
)
async def test_where_the_provider_sends_the_browser(make_visitor, origin, public_url, expected):
    page = await make_visitor(origin, public_url=public_url)("GET", "/console/login/provider")
    (redirect_uri,) = parse_qs(urlsplit(page.headers["location"]).query)["redirect_uri"]
    assert redirect_uri == f"{expected}/console/login/return"


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "another"},
        {"state": None},
        {"state": "\u00e9"},
        {"iss": "https://evil.example.com"},
        {"code": None},
        {"error": "access_denied"},
    ],
)
@pytest.mark.harmless
async def test_an_answer_that_does_not_fit(visitor, stand_in, changes):
    page = await go(visitor, stand_in, **changes)
    assert (page.status, stand_in.posted) == (401, [])
    assert "did not confirm" in page.text
    assert await visitor.who() == 401


async def test_an_issuer_that_is_promised_must_be_there(visitor, stand_in):
    stand_in.document = {"authorization_response_iss_parameter_supported": True}
    assert (await go(visitor, stand_in, iss=None)).status == 401


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "vivero"},  # the audience of the API, not of this client
        {"azp": "another"},
        {"iss": "https://evil.example.com"},
        {"key": "rsa-other"},
        {"sub": None},
        {"exp": None},
    ],
)
@pytest.mark.harmless
async def test_an_identity_token_that_does_not_fit(visitor, stand_in, claims):
    stand_in.claims = claims
    assert (await go(visitor, stand_in)).status == 401
    assert await visitor.who() == 401


@pytest.mark.parametrize("answer", [b"", b"{}", b'{"id_token": 1}', b"<html>"])
@pytest.mark.harmless
async def test_an_answer_without_a_token(visitor, stand_in, answer):
    stand_in.answer = answer
    assert (await go(visitor, stand_in)).status == 503
    assert await visitor.who() == 401


async def test_another_browser_cannot_finish(visitor, make_visitor, stand_in):
    """Somebody makes a victim follow the link of his own sign-in."""
    there = await visitor("GET", "/console/login/provider")
    back = stand_in.authorize(there.headers["location"])
    victim = make_visitor()
    page = await victim("GET", "/console/login/return?" + urlencode(back))
    assert (page.status, page.headers["location"]) == (303, "/console/login")
    await victim("GET", "/console/login/provider")
    assert (await victim("GET", "/console/login/return?" + urlencode(back))).status == 401
    assert await victim.who() == 401


@pytest.mark.parametrize("cookie", ["", "x", "!!!", base64.urlsafe_b64encode(b"{}").decode()])
@pytest.mark.harmless
async def test_a_cookie_that_is_not_ours(visitor, cookie):
    visitor.jar["vivero_sign_in"] = cookie
    assert (await visitor("GET", "/console/login/return?code=x&state=")).headers["location"] == "/console/login"


async def test_a_page_of_another_site_is_not_shown_afterwards(visitor, stand_in):
    there = await visitor("GET", "/console/login/provider?next=https://evil.example.com/")
    back = stand_in.authorize(there.headers["location"])
    page = await visitor("GET", "/console/login/return?" + urlencode(back))
    assert "evil" not in page.text


@pytest.mark.parametrize(
    "document", [{"issuer": "https://evil.example.com"}, {"token_endpoint": None}, {"authorization_endpoint": 1}]
)
async def test_a_provider_whose_document_does_not_fit(visitor, stand_in, document):
    stand_in.document = document
    page = await visitor("GET", "/console/login/provider")
    assert page.status == 503
    assert "cannot check" in page.text


async def test_a_provider_that_is_down(visitor, stand_in):
    stand_in.provider.down = True
    assert (await visitor("GET", "/console/login/provider")).status == 503


async def test_a_user_of_the_provider_has_no_password_here(visitor, stand_in, people):
    people.user("ann")
    await go(visitor, stand_in)
    assert (await visitor("GET", "/console/password")).headers["location"] == "/console/login"


async def test_a_new_password_here_ends_no_session_of_the_provider(make_visitor, stand_in, people, rows):
    """One person has both accounts of a shared name."""
    visitor = make_visitor(oidc_shared_names="ann")
    people.user("ann")
    await go(visitor, stand_in)
    rows.execute("UPDATE users SET password_hash = 'x'")
    assert await visitor.who() == "ann"


async def test_without_a_client_there_is_no_provider_to_go_to(stored, authenticator, auth_settings):
    visitor = Visitor(application_of(stored, authenticator, auth_settings))
    assert (await visitor("GET", "/console/login/provider")).headers["location"] == "/console/login"
    assert "Sign in with" not in (await visitor("GET", "/console/login")).text
