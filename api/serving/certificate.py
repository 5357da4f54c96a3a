"""The server's certificate. It can be replaced while the server runs."""

from __future__ import annotations

import ssl
from pathlib import Path

import structlog

from vivero.api.serving.tls_settings import TlsSettings
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

ALPN = ("h2", "http/1.1")
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""The ciphers of TLS 1.2 that HTTP/2 permits (RFC 9113, appendix A)."""


class CertificateProblem(Exception):
    """The certificate or its key cannot be used. The message says why."""


class Certificate:
    """The certificate in use. New connections use `context`."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises CertificateProblem."""
        self._files = certificate, key
        self.context = _load(certificate, key)

    def reload(self) -> None:
        """Read the files again. If they cannot be used, the old certificate stays."""
        try:
            self.context = _load(*self._files)
        except CertificateProblem as problem:
            log.error("the new certificate cannot be used, so the old one stays", problem=describe(problem))
        else:
            log.info("the certificate was read again", file=str(self._files[0]))


def certificate_of(settings: TlsSettings) -> Certificate | None:
    """The certificate of these settings; None without TLS. Raises CertificateProblem."""
    if settings.certificate is None and settings.key is None:
        return None
    if settings.certificate is None or settings.key is None:
        raise CertificateProblem("TLS needs both --tls-cert and --tls-key (settings tls.certificate and tls.key)")
    return Certificate(settings.certificate, settings.key)


def _load(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(CIPHERS)
    context.set_alpn_protocols(list(ALPN))
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        raise CertificateProblem(
            f"the certificate {certificate} with the key {key} cannot be used: {reason}"
        ) from error
    return context


def _no_password() -> str:
    """Called for a protected key. Without this, OpenSSL would ask on the terminal."""
    raise ValueError("the key has a password, which is not supported")
