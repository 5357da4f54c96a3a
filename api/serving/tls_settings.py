"""Settings of TLS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Files in PEM. Without a certificate, the server speaks HTTP/1.1 without TLS."""

    certificate: Path | None = None
    """Certificate chain in PEM. The server then speaks HTTPS, with HTTP/2 and HTTP/1.1; `--tls-cert`."""
    key: Path | None = None
    """Its private key, without a password; `--tls-key`."""
