"""SMTP in a thread: one e-mail to checked addresses, with bounds for what a server sends.

A thread cannot be cancelled, so the socket is shut when its call ends early: the thread then ends with an error.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import suppress
from typing import Any

import trio

from vivero.engine.connectors.contracts.email import STARTTLS, TLS
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.mail_messages import Mail
from vivero.engine.connectors.outbound.mail_servers import MailServer

CONNECT_S = 10.0
SILENCE_S = 30.0
"""The time that a server may be silent."""
MOST_REPLY_BYTES = 64 * 1024
"""The bytes of all replies of one session. A hostile server sends lines without end."""


async def deliver(server: MailServer, mail: Mail, threads: trio.CapacityLimiter) -> None:
    """Deliver an e-mail. Raises ConnectorError. A call that is cancelled shuts the connection, and its thread ends."""
    client = _Client(server)
    try:
        await trio.to_thread.run_sync(_deliver, client, mail, limiter=threads, abandon_on_cancel=True)
    except trio.Cancelled:
        client.shut()
        raise


def _deliver(client: _Client, mail: Mail) -> None:
    """Connect, log in, and send. Nobody gets the mail unless the server takes all recipients."""
    try:
        client.begin()
        _send(client, mail)
    except smtplib.SMTPException as error:
        raise ConnectorError("CONNECTION_FAILED", f"the mail server broke off: {error}") from error
    except TimeoutError as error:
        raise ConnectorError("TIMEOUT", "the mail server did not answer within the time limit") from error
    except OSError as error:
        raise ConnectorError("CONNECTION_FAILED", f"no connection to the mail server: {error}") from error
    finally:
        client.close()


class _Client(smtplib.SMTP):
    """smtplib's client on a connection to checked addresses, whose replies are bounded."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=SILENCE_S, local_hostname="localhost")  # until the address of the socket is known
        self._server = server
        self._host = server.host  # for the certificate after STARTTLS
        self._left = MOST_REPLY_BYTES
        self._guard: socket.socket | None = None
        """The same connection, which stays as it is when TLS begins on it."""
        self._is_shut = False

    def begin(self) -> None:
        """Connect and log in. Raises ConnectorError, SMTPException, OSError."""
        code, text = self.connect(self._server.host, self._server.port)
        _check(code, text, "MAIL_REFUSED")
        assert self.sock is not None
        address = self.sock.getsockname()[0]
        self.local_hostname = f"[IPv6:{address}]" if ":" in address else f"[{address}]"
        self.ehlo_or_helo_if_needed()
        if self._server.security == STARTTLS:
            self._upgrade()
        if self._server.login is not None:
            self._log_in(*self._server.login)

    def _upgrade(self) -> None:
        if not self.has_extn("starttls"):
            why = "the mail server offers no STARTTLS, and nothing is sent without"
            raise ConnectorError("TLS_REFUSED", why, final=True)
        try:
            self.starttls(context=self._server.context)
        except smtplib.SMTPResponseException as error:
            why = f"the mail server refuses STARTTLS: {_shown(error.smtp_error)}"
            raise ConnectorError("TLS_REFUSED", why) from error
        except ssl.SSLError as error:
            raise ConnectorError("TLS_REFUSED", f"no TLS with the mail server: {error}") from error
        self.ehlo()

    def _log_in(self, name: str, password: str) -> None:
        try:
            self.login(name, password)
        except smtplib.SMTPAuthenticationError as error:
            _check(error.smtp_code, error.smtp_error, "LOGIN_REFUSED")
        except smtplib.SMTPNotSupportedError as error:
            raise ConnectorError("LOGIN_REFUSED", f"the mail server takes no login: {error}", final=True) from error
        except UnicodeEncodeError as error:
            raise ConnectorError("LOGIN_REFUSED", "name and password must be ASCII", final=True) from error

    def _get_socket(self, host: str, port: int, _timeout: float) -> socket.socket:  # as SMTP_SSL replaces it
        failure: OSError = OSError("the host has no address")
        for address in self._server.addresses:
            try:
                made = socket.create_connection((address, port), CONNECT_S)
            except OSError as error:
                failure = error
                continue
            made.settimeout(SILENCE_S)
            self._guard = made.dup()
            self._check_open()
            is_tls = self._server.security == TLS
            return self._server.context.wrap_socket(made, server_hostname=host) if is_tls else made
        raise failure

    def getreply(self) -> tuple[int, bytes]:
        """As smtplib does, on a bounded stream."""
        self._check_open()
        if self.file is None and self.sock is not None:
            self.file = _Bounded(self.sock.makefile("rb"), self)
        return super().getreply()

    def took(self, count: int) -> None:
        """Bytes came. Raises SMTPServerDisconnected if they are too many."""
        self._left -= count
        if self._left < 0:
            raise smtplib.SMTPServerDisconnected(f"its replies have more than {MOST_REPLY_BYTES} bytes")

    def shut(self) -> None:
        """Shut the connection, from any thread: what waits for it ends with an error, and nothing follows."""
        self._is_shut = True
        if (guard := self._guard) is not None:
            with suppress(OSError):  # it has ended
                guard.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._guard is not None:
            self._guard.close()

    def _check_open(self) -> None:
        if self._is_shut:
            raise smtplib.SMTPServerDisconnected("the call has ended")


class _Bounded:
    """The stream of replies, which counts its bytes."""

    def __init__(self, stream: Any, client: _Client) -> None:
        self._stream, self._client = stream, client

    def readline(self, most: int) -> bytes:
        line: bytes = self._stream.readline(most)
        self._client.took(len(line))
        return line

    def close(self) -> None:
        self._stream.close()


def _send(client: _Client, mail: Mail) -> None:
    content = mail.message.as_bytes()
    options = [f"size={len(content)}"] if client.has_extn("size") else []
    _check(*client.mail(mail.sender, options), "MAIL_REFUSED")
    for recipient in mail.recipients:
        _check(*client.rcpt(recipient), "MAIL_REFUSED", f"<{recipient}>: ")
    try:
        _check(*client.data(content), "MAIL_REFUSED")
    except smtplib.SMTPDataError as error:
        _check(error.smtp_code, error.smtp_error, "MAIL_REFUSED")
    try:
        client.quit()
    except (smtplib.SMTPException, OSError):
        return  # the server has the mail


def _check(code: int, text: bytes | str, error: str, about: str = "") -> None:
    """Raise ConnectorError for a reply that is no success. Codes from 500 are for good (RFC 5321, section 4.2.1)."""
    if not 200 <= code < 300:
        raise ConnectorError(error, f"{about}{code} {_shown(text)}", {"status": code}, final=code >= 500)


def _shown(text: bytes | str) -> str:
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return " ".join("".join(sign if sign.isprintable() else " " for sign in shown).split())
