"""The commands `user sessions` and `user sign-out`: the sessions of browsers. They belong to the group of `access`."""

from __future__ import annotations

import click

from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.options import json_option, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.storage.access import sessions
from vivero.storage.access.identities import LastAdmin
from vivero.storage.access.sessions import ListedSession
from vivero.storage.postgres.driver import Connection
from vivero.terminal.terminal_tables import Column, field
from vivero.terminal.terminal_tables import time as time_of

SESSIONS = (
    Column("user", field("username")),
    Column("provider", field("provider")),
    Column("since", time_of("createdAt"), spare=1),
    Column("last use", time_of("usedAt")),
    Column("until", time_of("expiresAt"), spare=2),
)


@click.command("sessions")
@click.argument("username", required=False)
@json_option
@database_in_use
def list_sessions(username: str | None, as_json: bool, database: Database) -> None:
    """List the sessions of browsers, of one user or of all."""

    async def work(connection: Connection) -> list[ListedSession]:
        return await sessions.listed(connection, username)

    found = on_database(database, work, LastAdmin)
    print_rows([_document(each) for each in found], SESSIONS, as_json)


def _document(each: ListedSession) -> dict[str, str]:
    since, used, until = (time.isoformat() for time in (each.created_at, each.seen_at, each.expires_at))
    times = {"createdAt": since, "usedAt": used, "expiresAt": until}
    return {"username": each.username, "provider": each.provider, **times}


@click.command("sign-out")
@click.argument("username")
@json_option
@database_in_use
def sign_out(username: str, database: Database, as_json: bool) -> None:
    """End all sessions of a user's browsers."""

    async def work(connection: Connection) -> int:
        return await sessions.end_of_user(connection, username)

    made = record("user sign-out", "USER", "UPDATE", username)
    ended = change(database, made, work, LastAdmin)
    tell(as_json, f"{ended} sessions of {username} ended", username=username, ended=ended)
