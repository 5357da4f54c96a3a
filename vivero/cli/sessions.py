"""The commands `user sessions` and `user sign-out`: the sessions of browsers. They belong to the group of `access`."""

from __future__ import annotations

from pathlib import Path

import click

from vivero.cli.database import on_database
from vivero.cli.options import json_option, say
from vivero.cli.recorded import record, recorded
from vivero.cli.server import database_options
from vivero.storage import sessions
from vivero.storage.identities import LastAdmin
from vivero.storage.postgres.driver import Connection
from vivero.storage.sessions import ListedSession


@click.command("sessions")
@click.argument("username", required=False)
@json_option
@database_options
def list_sessions(
    username: str | None, as_json: bool, file: Path | None, data_dir: Path | None, database_url: str | None
) -> None:
    """List the sessions of browsers, of one user or of all."""

    async def work(connection: Connection) -> list[ListedSession]:
        return await sessions.listed(connection, username)

    for each in on_database(file, data_dir, database_url, work, LastAdmin):
        since, used, until = (time.isoformat() for time in (each.created_at, each.seen_at, each.expires_at))
        if as_json:
            times = {"createdAt": since, "usedAt": used, "expiresAt": until}
            say({"username": each.username, "provider": each.provider, **times})
        else:
            click.echo(f"{each.username:<24} {each.provider:<8} since {since}  last use {used}  until {until}")


@click.command("sign-out")
@click.argument("username")
@database_options
def sign_out(username: str, file: Path | None, data_dir: Path | None, database_url: str | None) -> None:
    """End all sessions of a user's browsers."""

    async def work(connection: Connection) -> int:
        return await sessions.end_of_user(connection, username)

    made = record("user sign-out", "USER", "UPDATE", username)
    ended = on_database(file, data_dir, database_url, recorded(made, work, LastAdmin), LastAdmin)
    click.echo(f"{ended} sessions of {username} ended")
