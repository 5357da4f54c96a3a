"""The place of a bucket, as settings give it. Without boto3, so that settings can be checked before it is imported."""

from __future__ import annotations

import re
from importlib.util import find_spec
from urllib.parse import urlsplit

S3 = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")


def bucket_and_prefix(location: str) -> tuple[str, str] | None:
    """The bucket and the prefix of the keys, which is empty or ends with a slash; None for a directory.

    Raises:
        ValueError: it begins like the address of a bucket, and is none.
    """
    if not location.startswith(S3):
        return None
    bucket, _, prefix = location.removeprefix(S3).partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise ValueError(f"'{location}' does not name a bucket: write s3://bucket or s3://bucket/prefix")
    prefix = prefix.strip("/")
    return bucket, f"{prefix}/" if prefix else ""


def check_access(names: str, endpoint: str | None, access_key: str | None, secret: str | None) -> None:
    """Raise ValueError unless a bucket can be reached with these. `names`: the beginning of the settings' names."""
    if find_spec("boto3") is None:
        raise ValueError("a bucket needs a package that is not installed: pip install 'vivero[s3]'")
    if (access_key is None) != (secret is None):
        raise ValueError(f"{names}_access_key and {names}_secret belong together: set both, or none")
    if endpoint is not None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise ValueError(f"{names}_endpoint must be a URL such as https://s3.example.org:9000, not '{endpoint}'")
