"""A connection string as a list of attempts: one for each host address, with names resolved without blocking.

libpq would block the event loop to resolve names. In its non-blocking mode it never tries the next host if one host
does not answer.
"""

import ipaddress
from collections.abc import Mapping

import psycopg
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn

RESOLVE_S = 2.0
"""Time to resolve a host name."""


def parse(dsn: str) -> dict[str, str]:
    """The parameters of a DSN (`key=value` pairs or a `postgresql://` URL); raises `InvalidDsn`."""
    try:
        return {key: str(value) for key, value in conninfo_to_dict(dsn).items()}
    except (psycopg.Error, UnicodeEncodeError) as error:
        # The parser's own message may quote a part of the string, and thus a password.
        raise InvalidDsn(
            "the database URL is not valid; expected postgresql://user:password@host:port/database"
            " or host=... port=... dbname=... user=..."
        ) from error.with_traceback(None)


def with_user(dsn: str, user: str) -> str:
    """The DSN for another user without a password."""
    parameters = {key: value for key, value in parse(dsn).items() if key != "password"}
    return make_conninfo("", **parameters | {"user": user})


def without_passwords(dsn: str) -> str:
    """The DSN as others may read it."""
    return make_conninfo("", **{key: value for key, value in parse(dsn).items() if "password" not in key})


def environment(dsn: str) -> dict[str, str]:
    """The environment in which PostgreSQL's own programs connect to this DSN. A command line would show a password."""
    names = {option.keyword.decode(): option.envvar.decode() for option in Conninfo.get_defaults() if option.envvar}
    return {names[key]: value for key, value in parse(dsn).items() if key in names}


def name_of(dsn: str) -> str:
    """The DSN's database alone, as a connection string; the rest comes from the environment."""
    return make_conninfo("", dbname=parse(dsn).get("dbname", ""))


def with_name(parameters: Mapping[str, str], name: str) -> dict[str, str]:
    """The parameters with an application name, and UTF-8.

    Other settings of a session follow when it is open (`driver.connect`): poolers refuse them in `options`.
    """
    return {**parameters, "application_name": name, "client_encoding": "UTF8"}


def split_hosts(parameters: Mapping[str, str]) -> list[dict[str, str]]:
    """The parameters for each host of a DSN. Raises `InvalidDsn` if its lists differ in length."""
    lists = {key: parameters[key].split(",") for key in ("host", "hostaddr", "port") if parameters.get(key)}
    count = max((len(lists[key]) for key in ("host", "hostaddr") if key in lists), default=1)
    for key, values in lists.items():
        if len(values) == 1 and key == "port":
            values *= count
        if len(values) != count:
            raise InvalidDsn(
                f"the database URL has {count} hosts, but {len(values)} values for {key!r}: give one for each host"
            )
    return [{**parameters, **{key: values[i] for key, values in lists.items()}} for i in range(count)]


def names_several(dsn: str) -> bool:
    """Whether a DSN names several hosts. Raises `InvalidDsn`."""
    return len(split_hosts(parse(dsn))) > 1


async def attempts(parameters: Mapping[str, str]) -> list[str]:
    """The connection strings to try, in order. Raises `ConnectFailed` if no host name can be resolved.

    All names are resolved at once, each within `RESOLVE_S`. libpq must not check `target_session_attrs`: it says in
    words, not in a code, that a server does not fit (`hosts.check_role`).
    """
    shared = {key: value for key, value in parameters.items() if key != "target_session_attrs"}
    hosts = split_hosts(shared)
    found: dict[int, list[dict[str, str]]] = {}
    failures: dict[int, str] = {}

    async def resolve(number: int, host: dict[str, str]) -> None:
        with trio.move_on_after(RESOLVE_S) as scope:
            try:
                found[number] = await _resolve(host)
            except OSError as error:
                failures[number] = f"cannot resolve host {host['host']!r}: {error.strerror or error}"
        if scope.cancelled_caught:
            failures[number] = f"cannot resolve host {host['host']!r}: no answer within {RESOLVE_S:g} s"

    async with trio.open_nursery() as nursery:
        for number, host in enumerate(hosts):
            nursery.start_soon(resolve, number, host)
    if not found:
        raise ConnectFailed("; ".join(failures[number] for number in sorted(failures)))
    return [make_conninfo("", **each) for number in sorted(found) for each in found[number]]


async def _resolve(parameters: dict[str, str]) -> list[dict[str, str]]:
    host = parameters.get("host", "")
    if not host or parameters.get("hostaddr") or host.startswith(("/", "@")) or _is_address(host):
        return [parameters]  # a socket, the default host, or an address
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
    """The DSN's `connect_timeout` for one attempt, in seconds; infinite without one. Raises `InvalidDsn`."""
    value = parameters.get("connect_timeout") or "0"
    try:
        seconds = float(value)
    except ValueError as error:
        raise InvalidDsn(f"connect_timeout={value!r} in the database URL is not a number of seconds") from error
    return seconds if seconds > 0 else float("inf")


def address(attempt: str) -> str:
    """Host and port of an attempt, for messages. The whole string may hold a password."""
    parameters = parse(attempt)
    host = parameters.get("hostaddr") or parameters.get("host") or "the default host"
    return f"{host} port {parameters.get('port') or '5432'}"
