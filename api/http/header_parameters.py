"""Headers with parameters, such as `form-data; name="resources"; filename*=UTF-8''gr%C3%B6%C3%9Fe.bpmn`.

Clients write a file's name in several ways. The rules are those of Camunda's server (Spring): `filename*` (RFC 8187)
wins over `filename`, which may consist of encoded words (RFC 2047), as .NET and PowerShell send it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

_PARAMETER = re.compile(r';\s*([^;="\s]+)\s*=\s*("(?:[^"\\]|\\.)*"?|[^;]*)[^;]*', re.DOTALL)
_QUOTED_PAIR = re.compile(r'\\(["\\])')
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\|\\\\")
_WORD = re.compile(r"=\?([^?\s*]+)(?:\*[^?\s]*)?\?([BbQq])\?([^?]*)\?=")
_ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})")
_PERCENT = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")


class Unreadable(Exception):
    """A parameter is not encoded as its charset says."""


def parsed(header: bytes) -> tuple[str, Mapping[str, str]]:
    """The value of a header in small letters, and its parameters by their names in small letters.

    A parameter that stands there twice has its first value. Raises Unreadable for bytes that are not UTF-8.
    """
    try:
        text = header.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8") from error
    value, _, _ = text.partition(";")
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(text, len(value)):
        found.setdefault(match[1].lower(), _unquoted(match[2].strip()))
    return value.strip().lower(), found


def _unquoted(text: str) -> str:
    """Without quotes and quoted pairs. Of a path of Windows, which some clients send unquoted, the last part stays."""
    inner = text[1:].removesuffix('"') if text.startswith('"') else text
    if _WINDOWS_PATH.match(inner):
        return inner.rpartition("\\")[2]
    return _QUOTED_PAIR.sub(r"\1", inner) if inner is not text else text


def text_of(parameters: Mapping[str, str], name: str) -> str | None:
    """The text of a parameter in any encoding; None if it is not there. Raises Unreadable."""
    plain, extended = parameters.get(name), parameters.get(f"{name}*")
    if extended is not None:
        try:
            return _extended(extended)
        except Unreadable:
            if plain is None:
                raise
    return None if plain is None else _words(plain)


def _extended(value: str) -> str:
    """The text of `charset'language'percent-encoded` (RFC 8187, section 3.2)."""
    charset, first, rest = value.partition("'")
    _language, second, text = rest.partition("'")
    if not (first and second and _PERCENT.fullmatch(text)):
        raise Unreadable("it must have the form UTF-8''name, with percent signs")
    return _decoded(unquote_to_bytes(text), charset)


def _words(value: str) -> str:
    """The text of encoded words. Spaces between two words are left out, and their bytes belong together."""
    if not value.startswith("=?"):
        return value
    parts: list[str] = []
    content, charset, end = b"", "", 0
    for word in _WORD.finditer(value):
        between = value[end : word.start()]
        if between.strip() or word[1].lower() != charset:
            parts += [_decoded(content, charset), between if between.strip() else ""]
            content = b""
        content, charset, end = content + _bytes_of(word), word[1].lower(), word.end()
    return "".join((*parts, _decoded(content, charset), value[end:]))


def _bytes_of(word: re.Match[str]) -> bytes:
    text = word[3].encode()
    if word[2] in "Qq":
        return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), text.replace(b"_", b" "))
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise Unreadable("it is not Base64") from error


def _decoded(content: bytes, charset: str) -> str:
    if not content:
        return ""
    try:
        return content.decode(charset)
    except (UnicodeError, LookupError) as error:
        raise Unreadable(f"it is not text in the charset '{charset[:40]}'") from error
