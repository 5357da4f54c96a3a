"""Settings of authentication and of tenants."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vivero.core.texts.fields import listed

MODES = ("none", "required")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by key pairs. With a shared secret, every verifier could make tokens."""

PUBLIC_URL = re.compile(r"https?://[^/?#\s]+/?")


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """Multi-tenancy."""

    enabled: bool = False
    """Allow tenants other than `<default>`."""


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """`oidc_…` configure bearer tokens of an identity provider. Without an issuer, none are accepted."""

    mode: str = "none"
    """`none`: every client may do everything, on loopback only; `required`: every request needs credentials; `--auth`.
    """
    insecure: bool = False
    """Listen on any address although the mode is `none`; `--insecure`."""
    cache_s: float = 5.0
    """Time for which verified credentials are remembered if no change is notified; at most 60."""
    admin_username: str = "admin"
    """First administrator of a new database."""
    admin_password: str | None = field(default=None, repr=False)
    """Its password. None: the server makes one and prints it once."""

    oidc_issuer: str = ""
    """Issuer of bearer tokens, exactly as in their claim `iss`; empty: no such tokens."""
    oidc_audience: str = ""
    """Audience that a token must have."""
    oidc_jwks: str = ""
    """URL (https) or file of the issuer's keys; empty: found by discovery."""
    oidc_algorithms: str = "RS256,ES256"
    """Allowed algorithms, separated by commas: RS, PS and ES with 256, 384, 512, and EdDSA."""
    oidc_username_claim: str = "sub"
    """Claim with the user's name."""
    oidc_shared_names: str = ""
    """Local users, separated by commas, who are the same person at the provider; `*`: all. Others are refused."""
    oidc_client_claim: str = ""
    """Claim with the client's name. A token that has it is a client's and not a user's."""
    oidc_client_id: str = ""
    """Client id of this server at the provider where browsers sign in; empty: they cannot."""
    oidc_client_secret: str | None = field(default=None, repr=False)
    """Its secret. None: a public client. PKCE protects the code in both cases."""
    oidc_scopes: str = "openid profile email"
    """Scopes that browsers ask the provider for."""
    public_url: str = ""
    """Address of this server in browsers, for the provider's redirect; empty: that of each request."""
    session_idle_s: float = 3600.0
    """A browser's session ends after this time without use."""
    session_max_s: float = 43_200.0
    """A browser's session ends after this time in any case."""
    oidc_leeway_s: float = 30.0
    """Difference between the clocks of issuer and server."""

    @property
    def shared_names(self) -> list[str]:
        """The names of `oidc_shared_names`."""
        return listed(self.oidc_shared_names)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"it must be one of {', '.join(MODES)}")
        if not 0 < self.cache_s <= 60:
            raise ValueError("auth.cache_s must be above 0 and at most 60")
        if not (self.session_idle_s > 60 and self.session_max_s > 60):
            raise ValueError("auth.session_idle_s and auth.session_max_s must be above 60")
        if self.public_url and PUBLIC_URL.fullmatch(self.public_url) is None:
            raise ValueError("auth.public_url must be a URL such as https://vivero.example.com, without a path")
        if unknown := [each for each in listed(self.oidc_algorithms) if each not in ALGORITHMS]:
            raise ValueError(f"'{unknown[0]}' is not one of {', '.join(ALGORITHMS)}")
