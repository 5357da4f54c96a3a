"""Bytes of an e-mail as an event: bounded texts, headers and attachments, whatever its sender wrote."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from email import message_from_bytes
from email.errors import MessageError
from email.headerregistry import BaseHeader, HeaderRegistry
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import parseaddr, parsedate_to_datetime
from typing import Any

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.receivers.texts import storable

MOST_TEXT, MOST_HEADERS, MOST_HEADER, MOST_PARTS, MOST_ATTACHMENTS = 256 * 1024, 200, 2000, 100, 50
MOST_NAME = 200
MOST_SOURCE, MOST_SOURCES = 2000, 200_000
"""Characters that the parser of headers gets of one header, and of all: its time grows with the square of the first."""
MOST_MAIL_LINES, MOST_MULTIPARTS = 300_000, 50
"""Lines and boundaries of an e-mail: the parser compares each line with each boundary that is open."""
_BOUNDARY = re.compile(rb"boundary[*0-9]*\s*=", re.IGNORECASE)


class _Headers:
    """Makes the headers of one e-mail. The library parses one again for each question about it."""

    def __init__(self) -> None:
        self._make, self._left = HeaderRegistry(), MOST_SOURCES

    def __call__(self, name: str, value: str) -> BaseHeader:
        """A header. Raises ConnectorError."""
        source = value[:MOST_SOURCE]
        self._left -= len(source)
        if self._left < 0:
            raise ConnectorError("BAD_MAIL", f"the headers of an e-mail have more than {MOST_SOURCES} characters")
        return self._make(name, source)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of an e-mail."""

    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ReceivedMail:
    """An e-mail. `event` has no attachments yet."""

    id: str
    """Its Message-ID, or a digest of an e-mail that has none."""
    event: dict[str, Any]
    attachments: list[Attachment] = field(default_factory=list)


def read_mail(content: bytes) -> ReceivedMail:
    """An e-mail. Raises ConnectorError BAD_MAIL if it cannot be read. It takes seconds for a large one."""
    lines, boundaries = content.count(b"\n") + content.count(b"\r"), sum(1 for _ in _BOUNDARY.finditer(content))
    if lines > 2 * MOST_MAIL_LINES or boundaries > MOST_MULTIPARTS:
        why = f"an e-mail has more than {MOST_MAIL_LINES} lines or {MOST_MULTIPARTS} boundaries of parts"
        raise ConnectorError("BAD_MAIL", why)
    policy = EmailPolicy(raise_on_defect=False, refold_source="none", header_factory=_Headers())
    try:
        message = message_from_bytes(content, policy=policy)
        assert isinstance(message, EmailMessage)
        return _read(message, content)
    except (RecursionError, MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError) as error:
        raise ConnectorError("BAD_MAIL", f"an e-mail cannot be read: {type(error).__name__}") from error


def _read(message: EmailMessage, content: bytes) -> ReceivedMail:
    notes: list[str] = []
    texts = {"text/plain": "", "text/html": ""}
    attachments: list[Attachment] = []
    for number, part in enumerate(_leaves(message)):
        if number == MOST_PARTS:
            notes.append(f"it has more than {MOST_PARTS} parts")
            break
        kind = part.get_content_type()
        if part.get_content_disposition() != "attachment" and part.get_filename() is None and kind in texts:
            texts[kind] = texts[kind] or _text(part, notes)
        elif len(attachments) == MOST_ATTACHMENTS:
            notes.append(f"it has more than {MOST_ATTACHMENTS} attachments")
            break
        else:
            attachments.append(_attachment(part, len(attachments)))
    id = _header(message, "Message-ID") or f"sha256-{hashlib.sha256(content).hexdigest()}"
    event = {
        "messageId": id,
        "fromAddress": parseaddr(_header(message, "From"))[1],
        "headers": [{"key": _plain(name), "value": _plain(value)} for name, value in _headers(message, notes)],
        "subject": _header(message, "Subject"),
        "size": len(content),
        "plainTextBody": texts["text/plain"],
        "htmlBody": texts["text/html"],
        "attachments": [],
        "receivedDateTime": _date(message),
        "errors": notes,
    }
    return ReceivedMail(id, event, attachments)


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts that contain no parts. A mail in the mail is one of them."""
    waiting: list[Any] = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            waiting += reversed(part.get_payload())
        else:
            yield part


def _text(part: EmailMessage, notes: list[str]) -> str:
    content = part.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    try:
        text = content.decode(part.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError):  # a charset that Python does not have, or that is no charset of texts
        text = content.decode("utf-8", "replace")
    if len(text) > MOST_TEXT:
        notes.append(f"a text was cut behind {MOST_TEXT} characters")
    return _plain(text, MOST_TEXT)


def _attachment(part: EmailMessage, number: int) -> Attachment:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):  # a mail in the mail
        content = part.as_bytes()
    name = _plain(part.get_filename() or f"attachment-{number + 1}", MOST_NAME)
    name = "".join(sign if sign.isprintable() and sign not in '/\\:*?"<>|' else "_" for sign in name)
    return Attachment(name.strip(" .") or f"attachment-{number + 1}", part.get_content_type(), content)


def _headers(message: EmailMessage, notes: list[str]) -> list[tuple[str, str]]:
    found = [(name, str(value)) for name, value in message.raw_items()]
    if len(found) > MOST_HEADERS:
        notes.append(f"it has more than {MOST_HEADERS} headers")
    return found[:MOST_HEADERS]


def _header(message: EmailMessage, name: str) -> str:
    """A header, decoded; as it is written, if that fails."""
    try:
        value = str(message.get(name, ""))
    except Exception:  # the parser of headers raises many kinds of errors for odd ones
        value = next((str(text) for each, text in message.raw_items() if each.lower() == name.lower()), "")
    return " ".join(_plain(value).split())


def _date(message: EmailMessage) -> str | None:
    try:
        date = parsedate_to_datetime(_header(message, "Date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).isoformat()


def _plain(text: str, most: int = MOST_HEADER) -> str:
    return storable(text[:most])
