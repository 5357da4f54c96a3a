"""Files of clients in answers: a browser saves them, and never shows or runs them."""

from __future__ import annotations

import re
from urllib.parse import quote

from vivero.api.http.response import SANDBOXED, Header

SAFE: tuple[Header, ...] = (*SANDBOXED, (b"cross-origin-resource-policy", b"same-origin"))
"""No other site shows a file as a part of its page, either."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._()+-]")


def disposition(file_name: str) -> Header:
    """The header of a download, with the name in ASCII for old clients (RFC 6266)."""
    plain = _NOT_PLAIN.sub("_", file_name)
    value = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"
    return b"content-disposition", value.encode()
