"""Settings of documents: what one may have, how long they live, and where they are."""

from __future__ import annotations

from dataclasses import dataclass

from vivero.engine.retention.chore_settings import retention_ms

POSTGRES = "postgres"
"""The store that every installation has."""
LINK_KEY_S = 7 * 24 * 3600
"""The time for which a key signs new links."""


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """Sizes in bytes."""

    max_bytes: int = 10 * 1024 * 1024
    """A document; beyond it 413. `http.max_body_bytes` limits the whole request."""
    max_files: int = 20
    """Documents of a batch; beyond it 400."""
    max_tenant_bytes: int = 10 * 1024 * 1024 * 1024
    """All contents of a tenant, each counted once; beyond it 507. 0: no limit."""
    ttl: str = "never"
    """Life of a document without `expiresAt`: an ISO 8601 duration, or `never`."""
    with_instances: bool = False
    """Delete new documents with the process instance that their metadata name. An erasure always does."""
    max_link_s: int = 7 * 24 * 3600
    """Longest life of a link that needs no sign-in."""

    def __post_init__(self) -> None:
        if min(self.max_bytes, self.max_files, self.max_link_s) < 1 or self.max_tenant_bytes < 0:
            raise ValueError("max_bytes, max_files and max_link_s must be at least 1, max_tenant_bytes at least 0")
        try:
            retention_ms(self.ttl)
        except ValueError as error:
            raise ValueError(f"ttl: {error}") from error

    @property
    def ttl_ms(self) -> int | None:
        """The life of a document without a time of its own; None: for ever."""
        return retention_ms(self.ttl)
