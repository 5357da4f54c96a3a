"""The charset of a body: as its byte order mark or its Content-Type says, otherwise UTF-8 (RFC 8259, RFC 9110)."""

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
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1]).name
    except LookupError:
        return None
    return name if name in _KNOWN else None


def decoded(content: bytes, content_type: str = "") -> str:
    """The text of a body. Bytes that its charset does not have become U+FFFD. An unknown charset counts as UTF-8."""
    for mark, charset in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(charset, errors="replace")
    return content.decode(charset_of(content_type) or "utf-8", errors="replace")
