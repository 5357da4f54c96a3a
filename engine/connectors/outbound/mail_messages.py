"""E-mail as its inputs describe it: sender, recipients, headers, texts and attachments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import formatdate
from typing import NamedTuple

from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.work.inputs import Inputs

ACTION = "data.smtpAction"
MOST_RECIPIENTS = 100
MOST_HEADERS = 50
MOST_LINE_CHARACTERS = 1_000
"""The most characters of an address, a subject or a header."""
MOST_ADDRESS_CHARACTERS = 20_000
"""The most characters of one header with addresses: the library takes up to 60 µs for each."""
OWN_HEADERS = frozenset(
    (
        *("from", "to", "cc", "bcc", "subject", "message-id", "date", "sender", "mime-version"),
        *("content-type", "content-transfer-encoding", "content-disposition", "return-path", "received"),
    )
)
"""Headers that the connector sets, or that only servers set."""


ATTACHED = frozenset(("application", "audio", "image", "text", "video"))
"""The kinds of files that are attached with their own type."""
_SPEC = r"[^\s<>@,;:()\[\]\\\"]{1,64}@[^\s<>@,;:()\[\]\\\"]{1,255}"
_ADDRESS = re.compile(rf"(?P<display>[^<>]*)<(?P<spec>{_SPEC})>|(?P<only>{_SPEC})")
_LINE_END = re.compile(r"\r\n(?![ \t])|\r(?!\n)|(?<!\r)\n")
"""An end of a line that no continuation of a header follows."""
_POLICY = SMTP_POLICY.clone(cte_type="7bit")


class Mail(NamedTuple):
    """An e-mail, and its envelope: BCC stands in no header."""

    message: EmailMessage
    sender: str
    recipients: Sequence[str]


def mail(inputs: Inputs, id: str, files: Iterable[SentFile]) -> Mail:
    """The e-mail of the inputs with this Message-ID. Raises ConnectorError."""
    message = EmailMessage(policy=_POLICY)
    sender = _one(_addresses("from", [_line(inputs, "from")]))
    message["From"], recipients = sender, list[str]()
    for name in ("to", "cc", "bcc"):
        found = _addresses(name, inputs.texts(f"{ACTION}.{name}"))
        recipients += [each.addr_spec for each in found]
        if sum(len(each.display_name) + len(each.addr_spec) for each in found) > MOST_ADDRESS_CHARACTERS:
            raise bad_input(f"{name} has more than {MOST_ADDRESS_CHARACTERS} characters")
        if found and name != "bcc":
            message[name.title()] = found
    if not 0 < len(recipients) <= MOST_RECIPIENTS:
        raise bad_input(f"an e-mail needs 1 to {MOST_RECIPIENTS} recipients in to, cc and bcc")
    message["Subject"], message["Message-ID"], message["Date"] = _line(inputs, "subject"), id, formatdate(usegmt=True)
    for header, value in _headers(inputs):
        message[header] = value
    _set_texts(message, inputs)
    for file in files:
        _attach(message, file)
    _check_headers(message)
    return Mail(message, sender.addr_spec, list(dict.fromkeys(recipients)))


def _check_headers(message: EmailMessage) -> None:
    """Raise ConnectorError if an encoded word (RFC 2047) hides a line break, which the library decodes and writes."""
    for part in message.walk():
        for name, value in part.raw_items():
            if _LINE_END.search(part.policy.fold(name, value).removesuffix("\r\n")):
                raise bad_input(f"the header {name} of the e-mail would have a line break")


def _set_texts(message: EmailMessage, inputs: Inputs) -> None:
    kind = inputs.text(f"{ACTION}.contentType")
    plain, html = inputs.text(f"{ACTION}.body"), inputs.text(f"{ACTION}.htmlBody")
    if kind == "HTML":
        message.set_content(html or plain, subtype="html")
        return
    message.set_content(plain)
    if kind == "MULTIPART":
        message.add_alternative(html, subtype="html")


def _attach(message: EmailMessage, file: SentFile) -> None:
    kind, _, rest = file.content_type.partition(";")[0].strip().lower().partition("/")
    if kind not in ATTACHED or not rest.replace("-", "a").replace(".", "a").replace("+", "a").isalnum():
        kind, rest = "application", "octet-stream"
    name = "".join(sign if sign.isprintable() else "_" for sign in file.name)
    message.add_attachment(file.content, maintype=kind, subtype=rest, filename=name)


def _line(inputs: Inputs, name: str) -> str:
    return checked_line(name, inputs.text(f"{ACTION}.{name}"))


def checked_line(name: str, text: str) -> str:
    """The text. Raises ConnectorError for signs that could end a header early, and for a text that is too long."""
    if len(text) > MOST_LINE_CHARACTERS or not text.replace("\t", " ").isprintable():
        raise bad_input(f"{name} must have at most {MOST_LINE_CHARACTERS} characters, without line breaks")
    return text


def _addresses(name: str, texts: Iterable[str]) -> list[Address]:
    """The addresses of texts such as `a@b.org` or `Ann <a@b.org>`, one in each."""
    found = list[Address]()
    for text in texts:
        parts = _ADDRESS.fullmatch(checked_line(name, text).strip())
        if parts is None or (not text.isascii() and not (parts["spec"] or parts["only"]).isascii()):
            raise bad_input(f"{name} has no valid address of e-mail: '{text[:100]}'")
        local, _, domain = (parts["spec"] or parts["only"]).partition("@")
        found.append(Address((parts["display"] or "").strip(' "'), local, domain))
    return found


def _one(found: Sequence[Address]) -> Address:
    if len(found) != 1:
        raise bad_input("from must be one address")
    return found[0]


def _headers(inputs: Inputs) -> Iterable[tuple[str, str]]:
    given = inputs.context(f"{ACTION}.headers")
    if len(given) > MOST_HEADERS:
        raise bad_input(f"headers has more than {MOST_HEADERS} entries")
    for name, value in given.items():
        if not name.isascii() or not name.replace("-", "a").isalnum() or name.lower() in OWN_HEADERS:
            raise bad_input(f"the header {name[:100]} is not valid, or the connector sets it")
        if value is not None:
            yield name, checked_line(f"the header {name}", text_of(value))
