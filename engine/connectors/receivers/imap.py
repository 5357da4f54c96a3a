"""IMAP in a thread: one mailbox at a checked address, with bounds for what a server sends.

A thread cannot be cancelled, so `shut` ends what waits for the connection with an error.
"""

from __future__ import annotations

import imaplib
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from vivero.engine.connectors.contracts.email import PLAIN
from vivero.engine.connectors.contracts.inbound.email import ALL, DELETE, MOVE
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.mail_servers import MailServer

T = TypeVar("T")

CONNECT_S, SILENCE_S = 10.0, 30.0
MOST_MAIL_BYTES = 10 * 1024 * 1024
"""A larger e-mail is left in the mailbox."""
MOST_REPLY_BYTES = 1024 * 1024
"""The bytes of all replies to one command, without an e-mail. A hostile server sends them without end."""
MOST_SHOWN = 200
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


@dataclass(frozen=True, slots=True)
class MailboxPlace:
    """A mailbox, as the inputs name it."""

    server: MailServer
    folder: str
    which: str
    handling: str
    target: str


class Mailbox:
    """A session with a mailbox. All methods but `shut` block, and raise ConnectorError."""

    def __init__(self, place: MailboxPlace) -> None:
        self._place = place
        self._client: _Client | None = None
        self._capabilities = frozenset[str]()
        self._is_shut = False
        self._turn = threading.RLock()
        """Held by the thread that uses the connection."""

    def open(self) -> str:
        """Connect, log in, and select the folder; its UIDVALIDITY, with which the numbers of e-mails are unique."""
        return self._called(lambda: self._opened(self._place))

    def _opened(self, place: MailboxPlace) -> str:
        self._client = client = _Client(place)
        if self._is_shut:
            raise ConnectorError("CONNECTION_FAILED", "the receiver has ended")
        if place.server.login is not None:
            name, password = place.server.login
            try:
                client.login(name, password)
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as error:
                raise ConnectorError("LOGIN_REFUSED", f"the mail server refuses the login: {_shown(error)}") from error
        words = self._checked(client.capability, "its capabilities")
        self._capabilities = frozenset(b" ".join(words).decode("ascii", "replace").upper().split())
        self._checked(lambda: client.select(_quoted(place.folder)), f"the folder {place.folder}")
        _, found = client.response("UIDVALIDITY")
        return (found[0] or b"").decode("ascii", "replace") if found else ""

    def uids(self, most: int) -> list[str]:
        """The numbers of e-mails to take, the oldest first."""
        criterion = "ALL" if self._place.which == ALL else "UNSEEN"
        found = self._checked(lambda: self._open.uid("SEARCH", f"{criterion} UNDELETED"), "the search")
        numbers = b" ".join(part for part in found if isinstance(part, bytes)).decode("ascii", "replace").split()
        return [number for number in numbers if number.isdigit()][:most]

    def fetch(self, uid: str) -> bytes:
        """An e-mail, without marking it. Raises ConnectorError BAD_MAIL if it is too large."""
        sizes = self._checked(lambda: self._open.uid("FETCH", uid, "(RFC822.SIZE)"), "an e-mail")
        found = _SIZE.search(b" ".join(part for part in sizes if isinstance(part, bytes)))
        if found is not None and int(found[1]) > MOST_MAIL_BYTES:
            raise ConnectorError("BAD_MAIL", f"an e-mail has more than {MOST_MAIL_BYTES} bytes, and stays where it is")
        self._open.expect(MOST_MAIL_BYTES)
        parts = self._checked(lambda: self._open.uid("FETCH", uid, f"(BODY.PEEK[]<0.{MOST_MAIL_BYTES}>)"), "an e-mail")
        contents = [part[1] for part in parts if isinstance(part, tuple) and len(part) > 1]
        if not contents:
            raise ConnectorError("BAD_MAIL", "the mail server has no content for an e-mail")
        return bytes(contents[0])

    def mark(self, uid: str) -> None:
        """Mark an e-mail as done: read, deleted, or moved (RFC 6851).

        A server without UIDPLUS (RFC 4315) can only remove all deleted e-mails of a folder, also those that others have
        deleted. There, one stays deleted until another client removes them.
        """
        handling = self._place.handling
        if handling == MOVE:
            target = _quoted(self._place.target)
            verb = "MOVE" if self._can("MOVE") else "COPY"
            self._checked(lambda: self._open.uid(verb, uid, target), f"the folder {self._place.target}")
            if verb == "MOVE":
                return
        flag = r"(\Deleted)" if handling in (DELETE, MOVE) else r"(\Seen)"
        self._checked(lambda: self._open.uid("STORE", uid, "+FLAGS.SILENT", flag), "a mark")
        if handling in (DELETE, MOVE) and self._can("UIDPLUS"):
            self._checked(lambda: self._open.uid("EXPUNGE", uid), "a deletion")

    def _can(self, capability: str) -> bool:
        """Whether the server has it, as it said behind the login."""
        return capability in self._capabilities

    def leave(self) -> None:
        """End the session as the server expects it."""
        with suppress(imaplib.IMAP4.error, OSError):  # it has ended
            self._open.logout()

    def close(self) -> None:
        """Close the connection, behind the call of another thread that `shut` has ended."""
        with self._turn:
            if self._client is not None:
                with suppress(OSError):
                    self._client.shutdown()

    def shut(self) -> None:
        """Shut the connection, from any thread."""
        self._is_shut = True
        if self._client is not None:
            with suppress(OSError):
                self._client.guard.shutdown(socket.SHUT_RDWR)

    @property
    def _open(self) -> _Client:
        assert self._client is not None
        return self._client

    def _checked(self, call: Callable[[], tuple[str, list[T]]], what: str) -> list[T]:
        status, data = self._called(call)
        if status != "OK":
            raise ConnectorError("MAILBOX_REFUSED", f"the mail server refuses {what}: {_shown(data)}")
        return data

    def _called(self, call: Callable[[], T]) -> T:
        try:
            with self._turn:
                return call()
        except imaplib.IMAP4.error as error:
            raise ConnectorError("CONNECTION_FAILED", f"the mail server broke off: {_shown(error)}") from error
        except TimeoutError as error:
            raise ConnectorError("TIMEOUT", "the mail server did not answer within the time limit") from error
        except OSError as error:
            raise ConnectorError("CONNECTION_FAILED", f"no connection to the mail server: {error}") from error


class _Client(imaplib.IMAP4):
    """imaplib's client on a connection to checked addresses, whose replies are bounded."""

    def __init__(self, place: MailboxPlace) -> None:
        self._server = place.server
        self._left = MOST_REPLY_BYTES
        super().__init__(place.server.host, place.server.port, SILENCE_S)

    def _create_socket(self, _timeout: float | None) -> socket.socket:  # as IMAP4_SSL replaces it
        failure: OSError = OSError("the host has no address")
        for address in self._server.addresses:
            try:
                made = socket.create_connection((address, self._server.port), CONNECT_S)
            except OSError as error:
                failure = error
                continue
            made.settimeout(SILENCE_S)
            self.guard = made.dup()
            if self._server.security == PLAIN:
                return made
            try:
                return self._server.context.wrap_socket(made, server_hostname=self._server.host)
            except (OSError, ValueError):  # it has closed its socket
                self.guard.close()
                raise
        raise failure

    def expect(self, size: int) -> None:
        """Let the replies to the next command have this many bytes more."""
        self._left = MOST_REPLY_BYTES + size

    def uid(self, command: str, *args: str) -> tuple[str, list[Any]]:
        """As imaplib does. The bound of replies begins anew behind each command."""
        try:
            return super().uid(command, *args)
        finally:
            self._left = MOST_REPLY_BYTES

    def read(self, size: int) -> bytes:
        """As imaplib calls it for a literal, whose size the server says before it sends it."""
        self._take(size)
        return super().read(size)

    def readline(self) -> bytes:
        """As imaplib calls it for a line."""
        line = super().readline()
        self._take(len(line))
        return line

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise self.abort("its replies are larger than expected")

    def shutdown(self) -> None:
        """Close the connection."""
        try:
            super().shutdown()
        finally:
            self.guard.close()


def _quoted(folder: str) -> str:
    """The name of a folder as IMAP writes it. Raises ConnectorError."""
    if not folder.isascii() or not folder.isprintable():
        raise ConnectorError("INVALID_INPUT", "names of folders must be printable ASCII: IMAP writes others in UTF-7")
    escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _shown(value: object) -> str:
    text = " ".join(str(value).split())
    return "".join(sign if sign.isprintable() else " " for sign in text)[:MOST_SHOWN]
