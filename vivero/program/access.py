"""Authentication at the start of the program: no open server by accident, and a first administrator."""

from __future__ import annotations

import secrets

import structlog

from vivero.api.access.passwords import hash_password
from vivero.api.access.settings import AuthSettings
from vivero.config.sections import Config
from vivero.core.texts.hosts import is_loopback
from vivero.storage.access import identities
from vivero.storage.postgres import driver

log = structlog.get_logger(__name__)


class NotProtected(Exception):
    """The settings of authentication do not fit. The message says what to do."""


def check(config: Config) -> None:
    """Raise NotProtected if others could reach a server without authentication, or a setting lacks its partner."""
    auth = config.auth
    if auth.oidc_issuer and not auth.oidc_audience:
        raise NotProtected("auth.oidc_issuer needs auth.oidc_audience: without it, tokens for other servers would do")
    if auth.oidc_client_id and not auth.oidc_issuer:
        raise NotProtected("auth.oidc_client_id needs auth.oidc_issuer: browsers sign in there")
    if auth.mode != "none" or is_loopback(config.api.host):
        return
    where = f"'{config.api.host}'" if config.api.host else "all addresses"
    if not auth.insecure:
        raise NotProtected(
            f"without authentication the server listens on loopback only, not on {where}: set auth.mode to 'required',"
            " or give --insecure if every client that can reach the server may do everything"
        )
    log.warning("no authentication: every client that can reach the server may do everything", address=where)


async def make_first_admin(dsn: str, auth: AuthSettings) -> None:
    """Create an administrator in a database without users. Print the password on stdout if the settings have none."""
    if auth.mode == "none":
        return
    password = auth.admin_password or secrets.token_urlsafe(18)
    try:
        password_hash = hash_password(password)
    except ValueError as error:
        raise NotProtected(f"the setting 'auth.admin_password' cannot be used: {error}") from error
    connection = await driver.connect(dsn, name="vivero:first-admin")
    try:
        made = await identities.create_first_admin(connection, auth.admin_username, password_hash)
    finally:
        connection.close()
    if made:
        log.info("the first administrator was created", username=auth.admin_username)
    if made and auth.admin_password is None:
        _say_password(auth.admin_username, password)


async def warn_of_taken_names(dsn: str, auth: AuthSettings) -> None:
    """Name the users of the identity provider who are refused because local users have their names."""
    if auth.mode == "none" or not auth.oidc_issuer:
        return
    connection = await driver.connect(dsn, name="vivero:names")
    try:
        names = await identities.taken_names(connection, auth.shared_names)
    finally:
        connection.close()
    if names:
        log.warning(
            "users of the identity provider have names of local users and are refused: they sign in by password, or"
            " auth.oidc_shared_names lets them in",
            usernames=names,
        )


def _say_password(username: str, password: str) -> None:
    """Raises NotProtected if it cannot be printed: nobody would know it."""
    try:
        print(f"The first administrator is '{username}' with the password {password}", flush=True)
        print("The password is not shown again. Change it: vivero user password NAME", flush=True)
    except OSError as error:
        raise NotProtected(
            f"the password of the first administrator was not printed: {error.strerror}. Set one before the next"
            f" start: vivero user password {username}"
        ) from error
