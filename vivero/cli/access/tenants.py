"""The command `tenant`. It works on the database itself, like `user`, `token` and `role` (`access`)."""

from __future__ import annotations

import click
import msgspec

from vivero.cli.access.identities import IDENTIFIER
from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, say, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.core.bpmn.reading.text_limits import TENANT_ID
from vivero.storage.access import directory, identities
from vivero.storage.access.audit_log import AuditRecord
from vivero.storage.access.identities import LastAdmin, ListedTenant
from vivero.storage.postgres.driver import Connection
from vivero.terminal.terminal_tables import Column, field
from vivero.terminal.texts import echo

KINDS = {
    "user": None,
    "client": None,
    "group": directory.GROUP,
    "role": directory.ROLE,
    "mapping-rule": directory.MAPPING_RULE,
}
"""Types of members. Users and clients may be those of the identity provider, which are no entries here."""
TENANTS = (
    Column("tenant", field("tenantId")),
    Column("definitions", field("definitions")),
    Column("members", lambda item: str(len(item["members"]))),
    Column("name", field("name"), spare=1),
)
TYPE = click.option(
    "--type", "kind", type=click.Choice(list(KINDS)), default="user", show_default=True, help="What MEMBER is."
)


@click.group(cls=Group)
def tenant() -> None:
    """Create, list and delete tenants, and assign users and others to them.

    \b
    Examples:
      vivero tenant create acme --name 'Acme Inc.'
      vivero tenant assign acme ann
      vivero tenant assign acme billing --type client
      vivero tenant show acme
    """


@tenant.command("create")
@click.argument("tenant_id")
@click.option("--name", metavar="NAME", help="The tenant's full name.  [the id]")
@click.option("--description", metavar="TEXT", help="What the tenant is for.")
@json_option
@database_in_use
def create(
    tenant_id: str,
    name: str | None,
    description: str | None,
    database: Database,
    as_json: bool,
) -> None:
    """Create a tenant. It has an effect if `tenants.enabled` is true."""
    if TENANT_ID.fullmatch(tenant_id) is None:
        raise click.UsageError(f"'{tenant_id}' is not a valid id: use 1 to 31 letters, digits and _ . -")

    async def work(connection: Connection) -> None:
        if not await directory.create(connection, directory.TENANT, tenant_id, (name or tenant_id, description)):
            raise Failure(f"there is a tenant '{tenant_id}' already")

    change(database, record("tenant create", "TENANT", "CREATE", tenant_id), work, LastAdmin)
    tell(as_json, f"tenant {tenant_id} created", tenantId=tenant_id, outcome="created")


@tenant.command("list")
@json_option
@database_in_use
def list_tenants(as_json: bool, database: Database) -> None:
    """List tenants with the number of their process definitions and members."""
    found = on_database(database, identities.tenants, LastAdmin)
    print_rows([_document(each) for each in found], TENANTS, as_json)


@tenant.command("show")
@click.argument("tenant_id")
@json_option
@database_in_use
def show(tenant_id: str, as_json: bool, database: Database) -> None:
    """Show a tenant and its members."""
    found = on_database(database, identities.tenants, LastAdmin)
    each = next((one for one in found if one.tenant_id == tenant_id), None)
    if each is None:
        raise _unknown(tenant_id)
    if as_json:
        say(_document(each))
        return
    echo(f"{each.tenant_id}  {each.name}")
    if each.description:
        echo(each.description)
    echo(f"{each.definitions} process definitions")
    for member in each.members:
        echo(f"  {member}")


def _document(each: ListedTenant) -> dict[str, object]:
    return {
        "tenantId": each.tenant_id,
        "name": each.name,
        "description": each.description,
        "definitions": each.definitions,
        "members": each.members,
    }


@tenant.command("delete")
@click.argument("tenant_id")
@json_option
@database_in_use
def delete(tenant_id: str, database: Database, as_json: bool) -> None:
    """Delete a tenant with all memberships. It must not have process definitions."""

    async def work(connection: Connection) -> None:
        done = await directory.delete(connection, directory.TENANT, tenant_id)
        if done == "unknown":
            raise _unknown(tenant_id)
        if done == "kept":
            raise Failure(f"the tenant '{tenant_id}' is built in and cannot be deleted")
        if done == "used":
            raise Failure(
                f"the tenant '{tenant_id}' still has process definitions, forms or other files: delete them first"
            )

    change(database, record("tenant delete", "TENANT", "DELETE", tenant_id), work, LastAdmin)
    tell(as_json, f"tenant {tenant_id} deleted", tenantId=tenant_id, outcome="deleted")


@tenant.command("assign")
@click.argument("tenant_id")
@click.argument("member")
@TYPE
@json_option
@database_in_use
def assign(
    tenant_id: str,
    member: str,
    kind: str,
    database: Database,
    as_json: bool,
) -> None:
    """Assign a user, client, group, role or mapping rule to a tenant."""
    if IDENTIFIER.fullmatch(member) is None:
        raise click.UsageError(f"'{member}' is not a valid name: use 1 to 256 letters, digits and _ ~ @ . + -")

    async def work(connection: Connection) -> None:
        if not await directory.exists(connection, directory.TENANT, tenant_id):
            raise _unknown(tenant_id)
        entries = KINDS[kind]
        if entries is not None and not await directory.exists(connection, entries, member):
            raise Failure(f"there is no {kind} '{member}'")
        await identities.assign(connection, ("TENANT", tenant_id), (_type(kind), member))

    change(database, _membership("assign", tenant_id, kind, member), work, LastAdmin)
    outcome = {"tenantId": tenant_id, "type": kind, "member": member, "outcome": "assigned"}
    tell(as_json, f"{kind} {member} has the tenant {tenant_id}", **outcome)


@tenant.command("unassign")
@click.argument("tenant_id")
@click.argument("member")
@TYPE
@json_option
@database_in_use
def unassign(
    tenant_id: str,
    member: str,
    kind: str,
    database: Database,
    as_json: bool,
) -> None:
    """Take a tenant from a user, client, group, role or mapping rule."""

    async def work(connection: Connection) -> None:
        if not await identities.unassign(connection, ("TENANT", tenant_id), (_type(kind), member)):
            raise Failure(f"{kind} {member} does not have the tenant {tenant_id}")

    change(database, _membership("unassign", tenant_id, kind, member), work, LastAdmin)
    outcome = {"tenantId": tenant_id, "type": kind, "member": member, "outcome": "unassigned"}
    tell(as_json, f"{kind} {member} no longer has the tenant {tenant_id}", **outcome)


def _membership(verb: str, tenant_id: str, kind: str, member: str) -> AuditRecord:
    made = record(f"tenant {verb}", "TENANT", verb.upper(), tenant_id, member)
    return msgspec.structs.replace(made, related_type=_type(kind))


def _type(kind: str) -> str:
    return kind.upper().replace("-", "_")


def _unknown(tenant_id: str) -> Failure:
    return Failure(f"there is no tenant '{tenant_id}': `vivero tenant list` shows the tenants")
