"""Settings of TLS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Files in PEM. Without a certificate, the server speaks HTTP/1.1 without TLS."""

    certificate: Path | None = None
    """The certificate, followed by those of its issuers."""
    key: Path | None = None
    """Its private key, without a password."""
