"""The commands `user`, `token` and `role`. They work on the database itself, so they need no credentials of the API.

A running server learns of each change at once.
"""

from __future__ import annotations

import re
import secrets

import click

from vivero.api.access.passwords import check_new, hash_password
from vivero.api.access.tokens import digest, new_token
from vivero.cli.access.sessions import list_sessions, sign_out
from vivero.cli.shared import streams
from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.storage.access import directory, identities
from vivero.storage.access.identities import LastAdmin, ListedToken
from vivero.storage.postgres.driver import Connection
from vivero.terminal.terminal_tables import Column, field, listed, time
from vivero.terminal.texts import echo

IDENTIFIER = re.compile(r"[a-zA-Z0-9_~@.+-]{1,256}")
_DURATION = re.compile(r"([0-9]{1,5})([hd])")
_UNIT_S = {"h": 3600, "d": 86_400}

USERS = (
    Column("user", field("username")),
    Column("roles", listed("roles"), wraps=True),
    Column("name", field("name"), spare=1),
    Column("e-mail", field("email"), spare=2),
)
TOKENS = (
    Column("token", field("name")),
    Column("roles", listed("roles"), wraps=True),
    Column("state", field("state")),
    Column("until", time("expiresAt"), spare=1),
    Column("last use", time("usedAt"), spare=2),
    Column("tenants", listed("tenants"), spare=3, wraps=True),
    Column("owner", field("owner"), spare=4),
)
ROLES = (
    Column("role", field("roleId")),
    Column("description", field("description"), spare=1, wraps=True),
    Column("members", listed("members"), wraps=True),
)
STDIN = click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")


def _identifier(text: str) -> str:
    if IDENTIFIER.fullmatch(text) is None:
        raise click.UsageError(f"'{text}' is not a valid name: use 1 to 256 letters, digits and _ ~ @ . + -")
    return text


def _password(from_stdin: bool) -> tuple[str, bool]:
    """The password, and whether it was made up. Without a terminal one is made up."""
    if from_stdin:
        password = streams.read_line()
    elif streams.is_a_person_there():
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        return secrets.token_urlsafe(18), True
    try:
        check_new(password)
    except ValueError as error:
        raise Failure(str(error)) from error
    return password, False


def _tell_user(as_json: bool, username: str, outcome: str, password: str, made_up: bool) -> None:
    tell(as_json, outcome, username=username, password=password if made_up else None)
    if made_up and not as_json:
        echo(f"password {password}")
    if made_up:
        echo("The password is not shown again.", err=True)


async def _check_roles(connection: Connection, roles: tuple[str, ...]) -> None:
    if missing := await identities.missing_roles(connection, roles):
        raise Failure(f"there is no role '{missing[0]}': `vivero role list` shows the roles")


# ---------------------------------------------------------------------------------------------------------- users


@click.group(cls=Group)
def user() -> None:
    """Add, list and delete users, set their passwords, list and end their sessions.

    \b
    Examples:
      vivero user add ann --role operator
      vivero user password ann --password-stdin < password.txt
      vivero user sessions ann
      vivero user sign-out ann
      vivero user delete ann
    """


user.add_command(list_sessions)
user.add_command(sign_out)


@user.command("add")
@click.argument("username")
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="A role of the user; may be repeated.")
@click.option("--name", metavar="NAME", help="The user's full name.")
@click.option("--email", metavar="ADDRESS", help="The user's e-mail address.")
@STDIN
@json_option
@database_in_use
def add(
    username: str,
    roles: tuple[str, ...],
    name: str | None,
    email: str | None,
    password_stdin: bool,
    database: Database,
    as_json: bool,
) -> None:
    """Add a user. Without a terminal and without --password-stdin, a password is made up and printed."""
    _identifier(username)
    password, made_up = _password(password_stdin)

    async def work(connection: Connection) -> None:
        await _check_roles(connection, roles)
        if not await identities.create_user(connection, username, hash_password(password), name, email):
            raise Failure(f"there is a user '{username}' already")
        for role in roles:
            await identities.assign(connection, ("ROLE", role), ("USER", username))

    change(database, record("user add", "USER", "CREATE", username), work, LastAdmin)
    _tell_user(as_json, username, f"user {username} added", password, made_up)


@user.command("list")
@json_option
@database_in_use
def list_users(as_json: bool, database: Database) -> None:
    """List users with their roles."""
    found = on_database(database, identities.users, LastAdmin)
    items = [{"username": each.username, "name": each.name, "email": each.email, "roles": each.roles} for each in found]
    print_rows(items, USERS, as_json)


@user.command("password")
@click.argument("username")
@STDIN
@json_option
@database_in_use
def set_password(
    username: str,
    password_stdin: bool,
    database: Database,
    as_json: bool,
) -> None:
    """Set a user's password."""
    password, made_up = _password(password_stdin)
    password_hash = hash_password(password)

    async def work(connection: Connection) -> None:
        if not await identities.set_password(connection, username, password_hash):
            raise Failure(f"there is no user '{username}'")

    change(database, record("user password", "USER", "UPDATE", username), work, LastAdmin)
    _tell_user(as_json, username, f"password of {username} changed", password, made_up)


@user.command("delete")
@click.argument("username")
@json_option
@database_in_use
def delete_user(username: str, database: Database, as_json: bool) -> None:
    """Delete a user with all memberships and grants."""

    async def work(connection: Connection) -> None:
        if await directory.delete(connection, directory.USER, username) != "done":
            raise Failure(f"there is no user '{username}'")

    change(database, record("user delete", "USER", "DELETE", username), work, LastAdmin)
    tell(as_json, f"user {username} deleted", username=username, outcome="deleted")


# --------------------------------------------------------------------------------------------------------- tokens


@click.group(cls=Group)
def token() -> None:
    """Create, list, rotate and revoke API tokens.

    \b
    Examples:
      vivero token create billing-worker --role worker --expires 90d
      vivero token list
      vivero token rotate billing-worker
      vivero token revoke billing-worker
    """


@token.command("create")
@click.argument("name")
@click.option("--role", "roles", multiple=True, required=True, metavar="ROLE", help="A role; may be repeated.")
@click.option("--tenant", "tenants", multiple=True, metavar="ID", help="A tenant; may be repeated.  [<default>]")
@click.option("--expires", metavar="TIME", help="The lifetime, such as 12h or 90d; without it the token stays valid.")
@json_option
@database_in_use
def create_token(
    name: str,
    roles: tuple[str, ...],
    tenants: tuple[str, ...],
    expires: str | None,
    database: Database,
    as_json: bool,
) -> None:
    """Create a token and print it. It is not shown again: the database has its hash only."""
    _identifier(name)
    made, expires_in_s = new_token(), _seconds(expires)

    async def work(connection: Connection) -> None:
        await _check_roles(connection, roles)
        asked = tenants or ("<default>",)
        if missing := await identities.missing_tenants(connection, asked):
            raise Failure(f"there is no tenant '{missing[0]}': `vivero tenant list` shows the tenants")
        if not await identities.create_token(connection, name, digest(made), roles, asked, expires_in_s):
            raise Failure(f"there is a token '{name}' already: revoke it, or choose another name")

    change(database, record("token create", "CLIENT", "CREATE", name), work, LastAdmin)
    _say_token(name, made, as_json)


def _say_token(name: str, made: str, as_json: bool) -> None:
    tell(as_json, made, name=name, token=made)
    echo("The token is not shown again.", err=True)


@token.command("rotate")
@click.argument("name")
@click.option("--expires", metavar="TIME", help="The lifetime, such as 12h or 90d; without it the expiry stays.")
@json_option
@database_in_use
def rotate_token(
    name: str,
    expires: str | None,
    database: Database,
    as_json: bool,
) -> None:
    """Replace a token's secret and print the new one. The old secret is refused from now on.

    Name, roles and tenants stay.
    """
    made, expires_in_s = new_token(), _seconds(expires)

    async def work(connection: Connection) -> None:
        if not await identities.rotate_token(connection, name, digest(made), expires_in_s):
            raise Failure(f"there is no token '{name}'")

    change(database, record("token rotate", "CLIENT", "UPDATE", name), work, LastAdmin)
    _say_token(name, made, as_json)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise click.UsageError(f"'{text}' is not a lifetime: use a form such as 12h or 90d")
    return float(int(found[1]) * _UNIT_S[found[2]])


@token.command("list")
@json_option
@database_in_use
def list_tokens(as_json: bool, database: Database) -> None:
    """List tokens, with their roles, tenants, expiry, last use and owner."""
    found = on_database(database, identities.tokens, LastAdmin)
    print_rows([_token_document(each) for each in found], TOKENS, as_json)


def _token_document(each: ListedToken) -> dict[str, object]:
    expires, used = (None if time is None else time.isoformat() for time in (each.expires_at, each.last_used_at))
    document = {"name": each.name, "roles": each.roles, "tenants": each.tenants, "owner": each.owner}
    return {**document, "state": "expired" if each.expired else "valid", "expiresAt": expires, "usedAt": used}


@token.command("revoke")
@click.argument("name")
@json_option
@database_in_use
def revoke_token(name: str, database: Database, as_json: bool) -> None:
    """Revoke a token: it is refused from now on."""

    async def work(connection: Connection) -> None:
        if not await identities.revoke_token(connection, name):
            raise Failure(f"there is no token '{name}'")

    change(database, record("token revoke", "CLIENT", "DELETE", name), work, LastAdmin)
    tell(as_json, f"token {name} revoked", name=name, outcome="revoked")


# ---------------------------------------------------------------------------------------------------------- roles


@click.group(cls=Group)
def role() -> None:
    """List roles, and give or take them.

    \b
    Examples:
      vivero role list
      vivero role assign operator ann
      vivero role unassign operator ann
    """


@role.command("list")
@json_option
@database_in_use
def list_roles(as_json: bool, database: Database) -> None:
    """List roles with their members."""
    items = [
        {"roleId": each.role_id, "name": each.name, "description": each.description, "members": each.members}
        for each in on_database(database, identities.roles, LastAdmin)
    ]
    print_rows(items, ROLES, as_json)


@role.command("assign")
@click.argument("role_id")
@click.argument("username")
@json_option
@database_in_use
def assign_role(
    role_id: str,
    username: str,
    database: Database,
    as_json: bool,
) -> None:
    """Give a user a role. The user may be one of the identity provider."""

    async def work(connection: Connection) -> None:
        await _check_roles(connection, (role_id,))
        await identities.assign(connection, ("ROLE", role_id), ("USER", username))

    _identifier(username)
    change(database, record("role assign", "ROLE", "ASSIGN", role_id, username), work, LastAdmin)
    tell(as_json, f"{username} has the role {role_id}", username=username, roleId=role_id, outcome="assigned")


@role.command("unassign")
@click.argument("role_id")
@click.argument("username")
@json_option
@database_in_use
def unassign_role(
    role_id: str,
    username: str,
    database: Database,
    as_json: bool,
) -> None:
    """Take a role from a user."""

    async def work(connection: Connection) -> None:
        if not await identities.unassign(connection, ("ROLE", role_id), ("USER", username)):
            raise Failure(f"{username} does not have the role {role_id}")

    change(database, record("role unassign", "ROLE", "UNASSIGN", role_id, username), work, LastAdmin)
    outcome = {"username": username, "roleId": role_id, "outcome": "unassigned"}
    tell(as_json, f"{username} no longer has the role {role_id}", **outcome)
