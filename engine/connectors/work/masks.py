"""The forms in which a text comes back from other systems: as it is, and as URLs, JSON, HTML and Base64 write it.

Programs differ in the signs that they escape, so each sign may be escaped or not. Within one form no text can be read
in two ways, so that no search backtracks, whatever a model or a server says. Long texts, such as keys in PEM, have the
common escapes only: a regular expression of many choices takes long to compile.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, quote_plus

MOST_CHOICES = 200
"""Characters of a text whose signs may be escaped or not, each by itself."""
_HTML = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


class Form(NamedTuple):
    """A regular expression that finds a text in one form, and the most bytes of UTF-8 that it matches."""

    pattern: str
    most_bytes: int


def forms_of(text: str) -> tuple[Form, ...]:
    """All forms of a text, each once."""
    content = text.encode(errors="surrogatepass")
    encoded = [each.decode().rstrip("=") for each in (base64.b64encode(content), base64.urlsafe_b64encode(content))]
    if len(text) > MOST_CHOICES:
        in_json: tuple[str, ...] = (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        in_json += tuple(each.replace("/", r"\/") for each in in_json)
        in_url = map(_fixed, (quote(content, ""), quote(content), quote_plus(content)))
        any_case = (form._replace(pattern=f"(?i:{form.pattern})") for form in in_url)  # of their hexadecimal digits
        return tuple(dict.fromkeys((*map(_fixed, (text, *in_json, html.escape(text), *encoded)), *any_case)))
    escaping = (_in_url, _in_url_with_percent_signs, _in_json, _in_html)
    tolerant = (_form(map(escape, text)) for escape in escaping)
    return tuple(dict.fromkeys((_fixed(text), *tolerant, *map(_fixed, encoded))))


def _fixed(text: str) -> Form:
    return Form(re.escape(text), len(text.encode(errors="surrogatepass")))


def _form(signs: Iterable[tuple[str, ...]]) -> Form:
    """The form of a text whose signs have these spellings, the longest first."""
    patterns, most = list[str](), 0
    for spellings in signs:
        escaped = [_pattern(each) for each in spellings]
        patterns.append(escaped[0] if len(escaped) == 1 else f"(?>{'|'.join(escaped)})")
        most += max(len(each.encode(errors="surrogatepass")) for each in spellings)
    return Form("".join(patterns), most)


def _pattern(spelling: str) -> str:
    """An escape of several characters has digits in small or capital letters."""
    return re.escape(spelling) if len(spelling) == 1 else f"(?i:{re.escape(spelling)})"


def _is_plain(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _in_url(sign: str) -> tuple[str, ...]:
    if _is_plain(sign):
        return (sign,)
    escaped = "".join(f"%{byte:02x}" for byte in sign.encode(errors="surrogatepass"))
    return (escaped, "+", sign) if sign == " " else (escaped, sign)


def _in_url_with_percent_signs(sign: str) -> tuple[str, ...]:
    """Some programs keep a percent sign that begins an escape."""
    return (sign,) if sign == "%" else _in_url(sign)


def _in_json(sign: str) -> tuple[str, ...]:
    if _is_plain(sign):
        return (sign,)
    units = sign.encode("utf-16-be", errors="surrogatepass").hex()
    escaped = "".join(rf"\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    short = json.dumps(sign, ensure_ascii=False)[1:-1]
    return (escaped, r"\/", sign) if sign == "/" else tuple(dict.fromkeys((escaped, short)))


def _in_html(sign: str) -> tuple[str, ...]:
    if _is_plain(sign):
        return (sign,)
    numbers = tuple(
        f"&#{number};" for number in (f"{ord(sign)}", f"0{ord(sign)}", f"x{ord(sign):x}", f"x0{ord(sign):x}")
    )
    named = (f"&{_HTML[sign]};",) if sign in _HTML else ()
    return (*numbers, *named) if sign == "&" else (*numbers, *named, sign)
