"""The caller of a request: its identity, groups, roles, tenants and rights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vivero.api.callers.permissions import ALL_RIGHTS, Rights, rights
from vivero.core.records.base import DEFAULT_TENANT
from vivero.storage.access.identities import ADMIN, StoredRights, Tenant


@dataclass(frozen=True, slots=True)
class Caller:
    """`kind` is USER, CLIENT (of an identity provider), TOKEN (an API token) or ANONYMOUS."""

    kind: str
    id: str
    rights: Rights
    name: str | None = None
    email: str | None = None
    groups: Sequence[str] = ()
    roles: Sequence[str] = ()
    tenants: frozenset[str] | None = frozenset()
    """The ids of the tenants that it may use if multi-tenancy is on; None: all."""
    listed_tenants: Sequence[Tenant] = ()
    """The same as the API shows them. Without authentication, only `<default>`."""
    mapping_rules: Sequence[str] = ()
    by_session: bool = False
    """A browser sends the session with requests of any page. Therefore writes with a session are checked."""

    provider: str | None = None
    """The verifier, a part of its identity: PASSWORD (this server), OIDC (the provider), TOKEN (API tokens)."""

    @property
    def owners(self) -> list[tuple[str, str]]:
        """The owners (type, id) of its grants: itself, its groups, roles and mapping rules."""
        of_others = (("GROUP", self.groups), ("ROLE", self.roles), ("MAPPING_RULE", self.mapping_rules))
        return [(self.kind, self.id), *((type, id) for type, ids in of_others for id in ids)]


ANYBODY = Caller(
    "ANONYMOUS", "anonymous", ALL_RIGHTS, tenants=None, listed_tenants=(Tenant(DEFAULT_TENANT, "Default"),)
)
"""The caller of every request without authentication."""


def caller(kind: str, id: str, stored: StoredRights, name: str | None = None, email: str | None = None) -> Caller:
    """A caller with the rights in the database."""
    allowed = rights(stored.roles, stored.grants)
    tenants = None if ADMIN in stored.roles else frozenset(each.tenant_id for each in stored.tenants)
    return Caller(
        kind, id, allowed, name, email, stored.groups, stored.roles, tenants, stored.tenants, stored.mapping_rules
    )
