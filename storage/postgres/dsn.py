"""A connection string to the attempts to make with it: one a host address, names resolved without blocking.

libpq would resolve names in the middle of our event loop, and in its non-blocking mode one host that does not answer
keeps it from ever trying the next.
"""

import ipaddress
from collections.abc import Mapping

import psycopg
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn


def parse(dsn: str) -> dict[str, str]:
    """The parameters of a DSN (`key=value` pairs or a `postgresql://` URL); raises `InvalidDsn`."""
    try:
        return {key: str(value) for key, value in conninfo_to_dict(dsn).items()}
    except psycopg.Error as error:
        # The parser's own words may quote a part of the string, and so a password.
        raise InvalidDsn(
            "the database URL cannot be read; expected postgresql://user:password@host:port/database"
            " or host=... port=... dbname=... user=..."
        ) from error.with_traceback(None)


def with_session(parameters: Mapping[str, str], name: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The parameters with an application name, UTF-8, and settings made at the start of the session."""
    flags = " ".join(f"-c {key}={_escape(value)}" for key, value in settings.items())
    return {
        **parameters,
        "application_name": name,
        "client_encoding": "UTF8",
        "options": f"{parameters.get('options', '')} {flags}".strip(),
    }


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def split_hosts(parameters: Mapping[str, str]) -> list[dict[str, str]]:
    """One set of parameters for each host of a DSN that names several; raises `InvalidDsn` if the lists do not fit."""
    lists = {key: parameters[key].split(",") for key in ("host", "hostaddr", "port") if parameters.get(key)}
    count = max((len(lists[key]) for key in ("host", "hostaddr") if key in lists), default=1)
    for key, values in lists.items():
        if len(values) == 1 and key == "port":
            values *= count
        if len(values) != count:
            raise InvalidDsn(f"the database URL has {count} hosts, but {len(values)} values for {key!r}")
    return [{**parameters, **{key: values[i] for key, values in lists.items()}} for i in range(count)]


async def attempts(parameters: Mapping[str, str]) -> list[str]:
    """The connection strings to try, in order. Raises `ConnectFailed` when no host name could be resolved."""
    found: list[dict[str, str]] = []
    failures: list[str] = []
    for host in split_hosts(parameters):
        try:
            found += await _resolve(host)
        except OSError as error:
            failures.append(f"cannot resolve host {host['host']!r}: {error.strerror or error}")
    if not found:
        raise ConnectFailed("; ".join(failures))
    return [make_conninfo("", **each) for each in found]


async def _resolve(parameters: dict[str, str]) -> list[dict[str, str]]:
    host = parameters.get("host", "")
    if not host or parameters.get("hostaddr") or host.startswith(("/", "@")) or _is_address(host):
        return [parameters]  # a socket, the default, or nothing left to resolve
    port = parameters.get("port") or "5432"
    infos = await trio.socket.getaddrinfo(host, port, type=trio.socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(info[4][0]) for info in infos)
    return [{**parameters, "hostaddr": address} for address in addresses]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def connect_timeout_s(parameters: Mapping[str, str]) -> float:
    """The DSN's own limit for one attempt, in seconds; infinite if it has none. Raises `InvalidDsn`."""
    value = parameters.get("connect_timeout") or "0"
    try:
        seconds = float(value)
    except ValueError as error:
        raise InvalidDsn(f"the database URL has connect_timeout={value!r}, which is no number") from error
    return seconds if seconds > 0 else float("inf")


def address(attempt: str) -> str:
    """Where an attempt goes, for a message: never the whole string, it may hold a password."""
    parameters = parse(attempt)
    host = parameters.get("hostaddr") or parameters.get("host") or "the default host"
    return f"{host} port {parameters.get('port') or '5432'}"
