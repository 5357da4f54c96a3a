"""A server that requires authentication: users, API tokens, and tokens of an identity provider with keys of its own."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.access.authentication import Authenticator
from vivero.api.access.passwords import hash_password
from vivero.api.access.settings import AuthSettings
from vivero.api.access.signing_keys import SigningKeys
from vivero.api.access.tokens import digest, new_token
from vivero.api.access.verified import KeysUnavailable

ISSUER, AUDIENCE = "https://login.example.com/realms/test", "vivero"
PASSWORD = "correct horse battery"


def basic(username, password=PASSWORD):
    """The header of HTTP Basic."""
    return [(b"authorization", b"Basic " + base64.b64encode(f"{username}:{password}".encode()))]


def bearer(token):
    return [(b"authorization", b"Bearer " + token.encode())]


class Provider:
    """An identity provider: keys, the documents that it serves, and tokens that it signs."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {
            "rsa": rsa.generate_private_key(65537, 2048),
            "rsa-other": rsa.generate_private_key(65537, 2048),
            "ec": ec.generate_private_key(ec.SECP256R1()),
        }
        self.algorithms = {"rsa": "RS256", "rsa-other": "RS256", "ec": "ES256"}
        self.published = ["rsa", "ec"]
        self.fetched = []
        self.down = False

    def jwk(self, name):
        algorithm: Any = RSAAlgorithm if name.startswith("rsa") else ECAlgorithm
        return {**algorithm.to_jwk(self.keys[name].public_key(), as_dict=True), "kid": name, "use": "sig"}

    @property
    def jwks(self):
        return json.dumps({"keys": [self.jwk(name) for name in self.published]}).encode()

    async def fetch(self, url):
        self.fetched.append(url)
        if self.down:
            raise KeysUnavailable("down")
        if url == f"{ISSUER}/.well-known/openid-configuration":
            return json.dumps({"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys", "more": 1}).encode()
        assert url == f"{ISSUER}/keys"
        return self.jwks

    def token(self, key="rsa", headers=None, algorithm=None, secret=None, **claims):
        now = datetime.now(UTC)
        payload = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + timedelta(minutes=5)}
        payload = {name: value for name, value in (payload | claims).items() if value is not None}
        return jwt.encode(
            payload,
            secret if secret is not None else self.keys[key],
            algorithm or self.algorithms[key],
            headers={name: value for name, value in ({"kid": key} | (headers or {})).items() if value is not None},
        )


@pytest.fixture(scope="session")
def provider_keys():
    return Provider()


@pytest.fixture
def provider(provider_keys):
    provider_keys.published, provider_keys.fetched, provider_keys.down = ["rsa", "ec"], [], False
    return provider_keys


@pytest.fixture(scope="session")
def password_hash():
    return hash_password(PASSWORD)


class People:
    """Puts users and tokens into the database."""

    def __init__(self, rows, password_hash) -> None:
        self.rows = rows
        self.password_hash = password_hash

    def user(self, name, *roles):
        self.rows.put("users", username=name, password_hash=self.password_hash, name=name.title())
        for role in roles:
            self.member("ROLE", role, "USER", name)

    def member(self, container, container_id, kind, id):
        self.rows.put("members", container_type=container, container_id=container_id, member_type=kind, member_id=id)

    def token(self, name, *roles, expires_at=None, tenants=("<default>",)):
        made = new_token()
        self.rows.put(
            "api_tokens",
            name=name,
            sha256=digest(made),
            roles=list(roles),
            tenants=list(tenants),
            expires_at=expires_at,
        )
        return made

    def grant(self, kind, id, resource, resource_id, *permissions):
        self.rows.put(
            "authorizations",
            owner_type=kind,
            owner_id=id,
            resource_type=resource,
            resource_id=resource_id,
            permission_types=list(permissions),
        )


@pytest.fixture
def people(rows, password_hash):
    return People(rows, password_hash)


@pytest.fixture
def auth_settings():
    return AuthSettings(
        mode="required", oidc_issuer=ISSUER, oidc_audience=AUDIENCE, oidc_client_claim="client_id", oidc_leeway_s=10.0
    )


@pytest.fixture
def authenticator(stored, auth_settings, provider):
    return Authenticator(auth_settings, stored.reads.pool, SigningKeys(ISSUER, fetch=provider.fetch))


@pytest.fixture
def secured(stored, authenticator):
    """A client of an application that requires authentication."""
    return Client(api_app.build(changed(stored, access=authenticator, check_password=authenticator.check_password)))


@pytest.fixture
def bad_tokens(provider):
    """Tokens of nobody, by what is wrong with them."""
    now = datetime.now(UTC)
    good = provider.token()
    head, body, signature = good.split(".")
    public = provider.jwk("rsa")["n"].encode()
    return {
        "alg none": provider.token(algorithm="none", secret=""),
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{provider.token(sub='admin').split('.')[1]}.{signature}",
        "signed with the public key": provider.token(algorithm="HS256", secret=public),
        "key of another": provider.token(secret=provider.keys["rsa-other"]),
        "unknown key id": provider.token(headers={"kid": "../../etc/passwd"}),
        "no key id": provider.token(headers={"kid": None}),
        "algorithm not allowed": provider.token(algorithm="RS512"),
        "key of another algorithm": provider.token(headers={"kid": "ec"}),
        "critical extension": provider.token(headers={"crit": ["x"], "x": 1}),
        "wrong audience": provider.token(aud="another"),
        "no audience": provider.token(aud=None),
        "wrong issuer": provider.token(iss="https://evil.example.com"),
        "no issuer": provider.token(iss=None),
        "expired": provider.token(exp=now - timedelta(seconds=15)),
        "no expiry": provider.token(exp=None),
        "not yet valid": provider.token(nbf=now + timedelta(minutes=5)),
        "no user": provider.token(sub=None),
        "user with NUL": provider.token(sub="a\0b"),
        "nonsense": "a.b.c",
        "one part": "nonsense",
    }
