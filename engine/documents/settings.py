"""Settings of documents: what one may have, how long they live, and where they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from vivero.engine.buckets.locations import bucket_and_prefix, check_access
from vivero.engine.retention.chore_settings import retention_ms

POSTGRES = "postgres"
"""The store that every installation has."""
DIRECTORY, S3 = "directory", "s3"
LINK_KEY_S = 7 * 24 * 3600
"""The time for which a key signs new links."""


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """Sizes in bytes."""

    store: str = POSTGRES
    """Store of new documents whose request names none: `postgres`, `directory` or `s3`."""
    directory: Path | None = None
    """Directory of the store `directory`, which all nodes share."""
    bucket: str | None = None
    """Bucket of the store `s3`: `s3://bucket/prefix`."""
    s3_endpoint: str | None = None
    """URL of an S3-compatible store. None: Amazon's."""
    s3_region: str | None = None
    """Its region."""
    s3_access_key: str | None = None
    """Its credentials, with `documents.s3_secret`: both or none. None: where Amazon's tools look for them."""
    s3_secret: str | None = field(default=None, repr=False)
    """Secret key of the store, for example by `VIVERO_DOCUMENTS_S3_SECRET_FILE`."""
    s3_path_style: bool = True
    """Name the bucket in the path of `documents.s3_endpoint`, and not in its host."""
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
        self._check_stores()

    def _check_stores(self) -> None:
        needs = {POSTGRES: True, DIRECTORY: self.directory is not None, S3: self.bucket is not None}
        if self.store not in needs:
            raise ValueError(f"store must be one of {', '.join(needs)}")
        if not needs[self.store]:
            missing = "directory" if self.store == DIRECTORY else "bucket"
            raise ValueError(f"the store '{self.store}' needs the setting documents.{missing}")
        if self.directory is not None and not self.directory.is_absolute():
            raise ValueError("directory must be an absolute path")
        if self.bucket is not None:
            if bucket_and_prefix(self.bucket) is None:
                raise ValueError(f"bucket must be s3://bucket or s3://bucket/prefix, not '{self.bucket}'")
            check_access("s3", self.s3_endpoint, self.s3_access_key, self.s3_secret)

    @property
    def ttl_ms(self) -> int | None:
        """The life of a document without a time of its own; None: for ever."""
        return retention_ms(self.ttl)
