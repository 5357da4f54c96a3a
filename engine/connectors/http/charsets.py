"""The charset of a body: as its byte order mark, its Content-Type, its first bytes or its markup says, otherwise UTF-8
(RFC 8259, RFC 9110; XML 1.0, appendix F; HTML, section 13.2.3.2)."""

from __future__ import annotations

import codecs
import re

_CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s";]+)', re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WITHOUT_MARK = (
    (b"\0\0\0.", "utf-32-be"),
    (b".\0\0\0", "utf-32-le"),
    (b"\0.\0.", "utf-16-be"),
    (b".\0.\0", "utf-16-le"),
)
"""The first bytes of text that begins with two letters of ASCII (RFC 4627, section 3). A point: a byte other than 0."""
_IN_MARKUP = re.compile(
    rb"""\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]+)|.*?<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.DOTALL | re.IGNORECASE,
)
_MARKUP = re.compile(r"(text/html|text/xml|application/xml|[^;]*\+xml)\s*(;|$)", re.IGNORECASE)
_MARKUP_BYTES = 1024
"""An XML declaration and the `meta` of HTML stand in these first bytes."""
_KNOWN = frozenset(
    (
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "ascii"),
        *(f"iso8859-{number}" for number in range(1, 17)),
        *(f"cp{number}" for number in (*range(1250, 1259), 437, 850, 866, 874, 932, 949)),
        *("koi8-r", "koi8-u", "mac-roman", "gbk", "gb2312", "gb18030", "big5"),
        *("euc_jp", "iso2022_jp", "shift_jis", "euc_kr"),
    )
)
"""Python's names of the charsets of the web. Others, such as punycode, take quadratic time or are no charsets."""


def charset_of(content_type: str) -> str | None:
    """Python's name of the charset that a Content-Type names; None if it names none that is known."""
    found = _CHARSET.search(content_type)
    return None if found is None else _known(found[1])


def _known(given: str) -> str | None:
    try:
        name = codecs.lookup(given).name
    except LookupError:
        return None
    return name if name in _KNOWN else None


def decoded(content: bytes, content_type: str = "") -> str:
    """The text of a body. Bytes that its charset does not have become U+FFFD. An unknown charset counts as UTF-8."""
    for mark, charset in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(charset, errors="replace")
    named = charset_of(content_type)
    if named is not None and named not in ("utf-16", "utf-32"):
        return content.decode(named, errors="replace")
    charset = _by_first_bytes(content) or named or _in_markup(content, content_type) or "utf-8"
    if charset in ("utf-16", "utf-32"):
        charset += "-be"  # without a mark (RFC 2781, section 4.3)
    return content.decode(charset, errors="replace")


def _by_first_bytes(content: bytes) -> str | None:
    zeros = bytes(b"."[0] if byte else 0 for byte in content[:4])
    return next((charset for pattern, charset in _WITHOUT_MARK if zeros == pattern), None)


def _in_markup(content: bytes, content_type: str) -> str | None:
    """The charset that XML or HTML names itself. As it could be read, it is not UTF-16 or UTF-32."""
    if not _MARKUP.match(content_type.strip()):
        return None
    found = _IN_MARKUP.match(content[:_MARKUP_BYTES])
    named = None if found is None else _known((found[1] or found[2]).decode())
    return None if named is None or named.startswith(("utf-16", "utf-32")) else named
