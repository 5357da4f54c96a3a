"""The check that web pages of other origins do not use the server, unless a setting allows them.

A browser sends a page's request to any server that it can reach, including one on the user's own machine. Two headers
that pages cannot set show the origin of a request: `Origin` and `Sec-Fetch-Site`. A third header, `Host`, shows the
server's name in the browser: a page whose name resolves to 127.0.0.1 (DNS rebinding) sends its own name.
"""

from __future__ import annotations

from vivero.api.http.problems import Problem
from vivero.api.http.request import Fields, Headers
from vivero.api.settings import ApiSettings
from vivero.core.texts.fields import listed
from vivero.core.texts.hosts import is_address, is_loopback

READING = ("GET", "HEAD", "OPTIONS")
OWN_SITES = (b"same-origin", b"none")
DEFAULT_PORTS = {"http": "80", "https": "443"}
CSRF_HEADER = b"x-vivero-csrf"
MAX_REMEMBERED = 100
"""Values of Host that passed the check and are remembered."""

_OF_BROWSERS = frozenset((b"origin", b"sec-fetch-site"))
_CHECKED_HEADERS = _OF_BROWSERS | {b"host"}


class Gate:
    """Refuses requests of foreign web pages. Requests without these headers do not come from a browser and pass."""

    def __init__(self, settings: ApiSettings) -> None:
        self._origins = frozenset(origin.lower() for origin in listed(settings.allowed_origins))
        self._hosts = frozenset(host.lower() for host in listed(settings.allowed_hosts)) | {settings.host.lower()}
        self._checks_hosts = is_loopback(settings.host) and "*" not in self._hosts
        self._served: set[bytes] = set()

    def check(self, method: str, headers: Headers, fields: Fields | None = None) -> None:
        """Raise Problem 421 for a foreign host, and 403 for a write by a foreign page.

        `fields`: the headers by name, if the caller has them.
        """
        if fields is None:
            fields = dict(headers)
        is_plain = len(fields) == len(headers) and _OF_BROWSERS.isdisjoint(fields)
        if is_plain and fields.get(b"host") in self._served:
            return  # a program, not a browser, and a host that was checked before
        found = [header for header in headers if header[0] in _CHECKED_HEADERS]
        host = b""
        for name, value in found:
            if name == b"host":
                host = value
                self._check_host(value)
        if method not in READING and "*" not in self._origins:
            self._check_origin(host, found)

    def check_session(self, method: str, headers: Headers) -> None:
        """Raise Problem 403 for a write with a session, unless one of our pages sends it, or a page that is allowed.

        A browser adds the session to every request, whichever page causes it. It tells the page in `Origin`. A page of
        another origin cannot send the header `X-Vivero-CSRF`.
        """
        named = dict(headers)
        if method in READING or CSRF_HEADER in named:
            return
        origin = named.get(b"origin", b"").decode("latin-1").lower()
        if origin not in self._origins - {"*"} and not _is_of_host(origin, named.get(b"host", b"").decode("latin-1")):
            detail = "A write with a session needs the header Origin of this server, or X-Vivero-CSRF with any value"
            raise Problem(403, "Forbidden", detail)

    def _check_host(self, value: bytes) -> None:
        if value in self._served:
            return
        if self._checks_hosts and value and not self._serves(_name(value.decode("latin-1"))):
            detail = (
                f"This server serves its own machine only and does not have the name"
                f" '{value.decode('latin-1')[:100]}'; the setting api.allowed_hosts allows other names"
            )
            raise Problem(421, "Misdirected Request", detail)
        if len(self._served) < MAX_REMEMBERED:
            self._served.add(value)

    def _serves(self, name: str) -> bool:
        """True for names of this server, and for addresses, which DNS cannot redirect."""
        if name in self._hosts or name == "localhost" or name.endswith(".localhost") or is_address(name):
            return True
        return any(host.startswith(".") and name.endswith(host) for host in self._hosts)

    def _check_origin(self, host: bytes, found: Headers) -> None:
        origins = [value.decode("latin-1").lower() for name, value in found if name == b"origin"]
        for origin in origins:
            if origin not in self._origins and not _is_of_host(origin, host.decode("latin-1")):
                raise _foreign(f"of '{origin[:100]}'")
        if origins and all(origin in self._origins for origin in origins):
            return
        for name, value in found:
            if name == b"sec-fetch-site" and value.lower() not in OWN_SITES:
                raise _foreign(f"whose Sec-Fetch-Site is '{value.decode('latin-1')[:100]}'")


def _foreign(who: str) -> Problem:
    detail = f"A web page {who} may not write here; the setting api.allowed_origins allows the pages of other origins"
    return Problem(403, "Forbidden", detail)


def _is_of_host(origin: str, host: str) -> bool:
    """True if the page comes from the host that it writes to. A proxy may change the scheme, which is not compared."""
    scheme, separator, authority = origin.partition("://")
    default = DEFAULT_PORTS.get(scheme)
    if not separator or default is None or not host:
        return False
    return _split(authority, default) == _split(host.lower(), default)


def _split(authority: str, default_port: str) -> tuple[str, str]:
    name, _, port = authority.rpartition(":") if _has_port(authority) else (authority, "", "")
    return name, port or default_port


def _has_port(authority: str) -> bool:
    return ":" in authority.rpartition("]")[2]


def _name(host: str) -> str:
    """The name or address in a Host header, in lower case."""
    return _split(host, "")[0].strip("[]").rstrip(".").lower()
