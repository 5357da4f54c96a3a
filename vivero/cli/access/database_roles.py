"""The commands `database-role` and `outcome`: commands that clients queue in their own transactions. They work on the
database itself."""

from __future__ import annotations

import click

from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, say, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_fields, print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.storage.access import database_roles
from vivero.storage.access.database_roles import RefusedGrant
from vivero.storage.log import transaction_inbox
from vivero.storage.postgres.driver import Connection
from vivero.terminal.terminal_tables import Column, field

ROLES = (
    Column("role", field("role")),
    Column("tenants", lambda item: ", ".join(item["tenants"])),
    Column("exists", field("exists")),
)


@click.group("database-role", cls=Group)
def database_role() -> None:
    """Let roles of PostgreSQL queue commands in their own transactions.

    \b
    Examples:
      vivero database-role grant shop --tenant acme
      vivero database-role grant billing --all-tenants
      vivero database-role revoke shop
    """


@database_role.command("grant")
@click.argument("role")
@click.option("--tenant", "tenants", metavar="ID", multiple=True, help="A tenant; may be repeated.  [<default>]")
@click.option("--all-tenants", is_flag=True, help="All tenants, and background jobs.")
@json_option
@database_in_use
def grant(role: str, tenants: tuple[str, ...], all_tenants: bool, database: Database, as_json: bool) -> None:
    """Let ROLE call the functions, beside the tenants that it has."""
    if tenants and all_tenants:
        raise click.UsageError("--tenant and --all-tenants exclude each other")
    given = ["*"] if all_tenants else list(tenants) or ["<default>"]

    async def work(connection: Connection) -> None:
        await database_roles.grant(connection, role, given)

    change(database, record("database-role grant", "AUTHORIZATION", "CREATE", role), work, RefusedGrant)
    tell(as_json, f"role {role} may queue commands", role=role, tenants=given, outcome="granted")


@database_role.command("revoke")
@click.argument("role")
@json_option
@database_in_use
def revoke(role: str, database: Database, as_json: bool) -> None:
    """Take the functions and all tenants from ROLE."""

    async def work(connection: Connection) -> None:
        if not await database_roles.revoke(connection, role):
            raise Failure(f"the role '{role}' has no tenants: `vivero database-role list` shows those that have")

    change(database, record("database-role revoke", "AUTHORIZATION", "DELETE", role), work, RefusedGrant)
    tell(as_json, f"role {role} may queue nothing more", role=role, outcome="revoked")


@database_role.command("list")
@json_option
@database_in_use
def list_roles(as_json: bool, database: Database) -> None:
    """List roles with their tenants."""
    found = on_database(database, database_roles.grants, RefusedGrant)
    print_rows([each._asdict() for each in found], ROLES, as_json)


@click.command()
@click.argument("id", type=click.INT)
@json_option
@database_in_use
def outcome(id: int, as_json: bool, database: Database) -> None:
    """Show what became of a command that a transaction of yours has queued.

    \b
    Example:
      vivero outcome 2251799813685249
    """
    found = on_database(database, lambda connection: transaction_inbox.outcome(connection, id), RefusedGrant)
    if found is None:
        raise Failure(f"there is no command {id}: its transaction has not committed, or it is more than a day old")
    document = found.document(id)
    if as_json:
        say(document)
    else:
        print_fields(document)
