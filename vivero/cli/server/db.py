"""The command `db`: what an administrator of PostgreSQL prepares."""

from __future__ import annotations

import secrets

import click

from vivero.cli.shared.database import EXPECTED
from vivero.cli.shared.failures import run
from vivero.cli.shared.groups import Group
from vivero.cli.shared.settings import Database, database_in_use
from vivero.storage.access import row_security
from vivero.storage.postgres import driver


@click.group(cls=Group)
def db() -> None:
    """Print the SQL of the second database role, for multi-tenancy.

    \b
    Example:
      vivero db roles --database-url postgresql://vivero@db/vivero > roles.sql
    """


@db.command()
@click.option("--name", default=row_security.READER, metavar="ROLE", show_default=True, help="The name of the role.")
@database_in_use
def roles(name: str, database: Database) -> None:
    """Print the SQL that makes the second role of multi-tenancy, with a new password.

    \b
    Example:
      vivero db roles --database-url postgresql://vivero@db/vivero > roles.sql
      psql postgresql://postgres@db/vivero -f roles.sql
    """
    url = database.settings().database.url
    if url is None:
        click.echo("-- The embedded PostgreSQL needs no preparation: the server makes the role itself.")
        return
    password = secrets.token_urlsafe(18)

    async def work() -> str:
        connection = await driver.connect(url, name="vivero:command")
        try:
            return await row_security.roles_sql(connection, name, password)
        finally:
            connection.close()

    click.echo("-- Run this as a user that may create roles. It creates the role of the API's reads.")
    click.echo(run(work, EXPECTED))
    click.echo(f"-- Then set database.reader_url: like database.url, with the user {name} and the password {password}")
