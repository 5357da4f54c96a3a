"""The store that the settings name."""

from __future__ import annotations

from pathlib import Path

from vivero.engine.buckets.locations import bucket_and_prefix
from vivero.engine.retention.archive.directory import DirectoryStore
from vivero.engine.retention.archive.stores import Store
from vivero.engine.retention.chore_settings import RetentionSettings


def open_store(settings: RetentionSettings) -> Store | None:
    """The store of the archive; None without one. Asks nobody."""
    if settings.archive is None:
        return None
    bucket = bucket_and_prefix(settings.archive)
    if bucket is None:
        return DirectoryStore(Path(settings.archive))
    from vivero.engine.buckets.client import Bucket
    from vivero.engine.retention.archive.s3 import S3Store  # boto3 is large, and an extra

    keys = settings.archive_access_key, settings.archive_secret
    return S3Store(Bucket(*bucket, settings.archive_endpoint, settings.archive_region, *keys))
