"""Settings of authentication and of tenants."""

from __future__ import annotations

from dataclasses import dataclass, field

from vivero.api.settings import listed

MODES = ("none", "required")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by key pairs. With shared secrets, everybody who can check a token could make one."""


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """Multi-tenancy."""

    enabled: bool = False
    """Whether there are tenants other than `<default>`."""


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """`oidc_…` are about bearer tokens of an identity provider; without an issuer there are none."""

    mode: str = "none"
    """`none`: every client may do everything; `required`: every request needs credentials."""
    insecure: bool = False
    """Listen on addresses other than loopback although the mode is `none`."""
    cache_s: float = 5.0
    """Seconds for which verified credentials are remembered, if no node tells of a change before."""
    admin_username: str = "admin"
    admin_password: str | None = field(default=None, repr=False)
    """The first administrator of a new database. Without a password, the server makes one and prints it once."""

    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_jwks: str = ""
    """URL or file of the issuer's keys; empty: the issuer's discovery document names it."""
    oidc_algorithms: str = "RS256,ES256"
    oidc_username_claim: str = "sub"
    oidc_client_claim: str = ""
    """A token with this claim is a client's and not a user's."""
    oidc_leeway_s: float = 30.0
    """How far the clocks of issuer and server may differ."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"it must be one of {', '.join(MODES)}")
        if not 0 < self.cache_s <= 60:
            raise ValueError("auth.cache_s must be above 0 and at most 60")
        if unknown := [each for each in listed(self.oidc_algorithms) if each not in ALGORITHMS]:
            raise ValueError(f"'{unknown[0]}' is not one of {', '.join(ALGORITHMS)}")
