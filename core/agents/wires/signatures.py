"""Signatures of requests to AWS, version 4.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True, repr=False)
class AwsKeys:
    """Credentials that sign. `session` is the token of temporary ones."""

    access_key: str
    secret_key: str
    session: str | None = None


def signed(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    keys: AwsKeys,
    *,
    region: str,
    service: str,
    now: datetime,
) -> dict[str, str]:
    """The headers of a request with its signature. `now` is in UTC. All given headers are signed."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    sent = {**headers, "Host": urlsplit(url).netloc, "X-Amz-Date": stamp}
    if keys.session is not None:
        sent["X-Amz-Security-Token"] = keys.session
    lowered = {name.lower(): " ".join(value.split()) for name, value in sent.items()}
    names = ";".join(sorted(lowered))
    canonical = _canonical(method, url, lowered, names, content)
    text = "\n".join((ALGORITHM, stamp, scope, _sha256(canonical.encode())))
    signature = hmac.new(_key(keys.secret_key, scope), text.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={keys.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    del sent["Host"]  # the client sets it
    return {**sent, "Authorization": f"{ALGORITHM} {credential}"}


def _canonical(method: str, url: str, headers: Mapping[str, str], names: str, content: bytes) -> str:
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe="/-_.~")  # once more: the path of the URL is encoded already
    query = sorted((quote(n, safe="-_.~"), quote(v, safe="-_.~")) for n, v in parse_qsl(parts.query, True))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    return "\n".join((method, path, "&".join(f"{n}={v}" for n, v in query), lines, names, _sha256(content)))


def _key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
