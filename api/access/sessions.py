"""The session of a browser in a request: a cookie with a random id, and the rule for writes.

On loopback, a browser may speak HTTP, and the cookie is not `Secure`. Everywhere else its name has the prefix
`__Host-`: browsers take such a cookie from this very host over TLS only, so that no neighbour can plant one.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator

from vivero.api.http.problems import Problem
from vivero.api.http.request import Headers, Request
from vivero.core.texts.hosts import is_loopback
from vivero.storage.access.identities import TokenOwner

SECURE, PLAIN = "__Host-vivero_session", "vivero_session"
"""The names of the cookie: everywhere, and on loopback without TLS."""

_ID = re.compile(rb"[A-Za-z0-9_-]{43}")


def new_id() -> str:
    """A new id: 256 random bits."""
    return secrets.token_urlsafe(32)


def digest(id: bytes) -> bytes:
    """The stored form of an id. A slow hash would add nothing: nobody can try 2**256 ids."""
    return hashlib.sha256(id).digest()


def session_id(headers: Headers) -> bytes | None:
    """The id in the cookies of a request; None if there is none that counts."""
    cookies = dict(_cookies(headers))
    found = cookies.get(SECURE.encode())
    if found is None and PLAIN.encode() in cookies and is_loopback(host_name(headers)):
        found = cookies[PLAIN.encode()]
    return found if found is not None and _ID.fullmatch(found) else None


def _cookies(headers: Headers) -> Iterator[tuple[bytes, bytes]]:
    for name, value in headers:
        if name == b"cookie":
            for pair in value.split(b";"):
                key, _, content = pair.strip().partition(b"=")
                yield key, content


def host_name(headers: Headers) -> str:
    """The name in the header Host, without the port."""
    value = next((value for name, value in headers if name == b"host"), b"").decode("latin-1")
    return (value.rpartition(":")[0] if ":" in value.rpartition("]")[2] else value).strip("[]")


def owner(request: Request) -> TokenOwner:
    """The user of a request. Raises Problem 403 for clients, tokens and callers without a name."""
    caller = request.caller
    if caller.kind != "USER" or caller.provider is None:
        raise Problem(403, "FORBIDDEN", "Only users have sessions and tokens of their own")
    return TokenOwner(caller.id, caller.provider)
