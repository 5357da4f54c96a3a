"""The command `partitions`. It works on the database itself. A running engine learns of each change at once."""

from __future__ import annotations

from collections import Counter

import click

from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.core.partitions.routes import SLOTS
from vivero.engine.cluster.partition_growth import Move, NotRaised, raise_number
from vivero.storage.access import audit_log, identities
from vivero.storage.cluster import routes
from vivero.storage.postgres.driver import Connection
from vivero.terminal.terminal_tables import Column, field, listed
from vivero.terminal.texts import echo

PARTITIONS = (
    Column("partition", field("partitionId")),
    Column("slots", field("slots")),
    Column("pinned", listed("pinned"), wraps=True),
)


@click.group(cls=Group)
def partitions() -> None:
    """List partitions, pin tenants to them, and raise their number.

    \b
    Examples:
      vivero partitions list
      vivero partitions pin acme 2 3
      vivero partitions pin acme
      vivero partitions raise 4
    """


@partitions.command("list")
@json_option
@database_in_use
def list_(database: Database, as_json: bool) -> None:
    """List the partitions, the number of slots that each owns, and the tenants that are pinned to each."""
    known = on_database(database, routes.read, NotRaised)
    slots = Counter(known.owner_of(slot) for slot in range(SLOTS))
    pinned = {each: sorted(name for name, among in known.pins.items() if each in among) for each in known.all}
    items = [{"partitionId": each, "slots": slots[each], "pinned": pinned[each]} for each in known.all]
    print_rows(items, PARTITIONS, as_json)


@partitions.command("pin")
@click.argument("tenant")
@click.argument("numbers", metavar="[PARTITION]...", type=int, nargs=-1)
@json_option
@database_in_use
def pin(
    tenant: str,
    numbers: tuple[int, ...],
    database: Database,
    as_json: bool,
) -> None:
    """Let new instances of TENANT begin in these partitions only; without any, in all.

    Instances that exist stay where they are. Messages go by their correlation keys, whatever the tenant, but the
    instances that they start begin here. The pins of a tenant end with it.
    """

    async def work(connection: Connection) -> None:
        known = await routes.read(connection)
        for number in numbers:
            if number not in known.all:
                raise NotRaised(f"there is no partition {number}: the database has {known.partitions}")
        if await identities.missing_tenants(connection, [tenant]):
            raise NotRaised(f"there is no tenant {tenant!r}: create it with 'vivero tenant create'")
        await routes.pin(connection, tenant, sorted(set(numbers)))

    made = record("partitions pin", "TENANT", "UPDATE", tenant)
    change(database, made, work, NotRaised)
    where = f"partition {', '.join(map(str, sorted(set(numbers))))}" if numbers else "all partitions"
    tell(as_json, f"instances of {tenant} begin in {where}", tenantId=tenant, partitions=sorted(set(numbers)))


@partitions.command("raise")
@click.argument("number", type=int)
@json_option
@database_in_use
def raise_(number: int, database: Database, as_json: bool) -> None:
    """Raise the number of partitions to NUMBER while the engine runs.

    Slots of message channels move until all partitions own equally many. If this command is interrupted, repeat it: it
    goes on where it stopped.
    """

    def moved(move: Move) -> None:
        echo(f"moving {len(move.slots)} slots from partition {move.owner} to {move.to}", err=as_json)

    async def work(connection: Connection) -> None:
        await raise_number(connection, number, moved)
        await audit_log.add(connection, record("partitions raise", "RESOURCE", "UPDATE", str(number)))

    on_database(database, work, NotRaised)
    tell(as_json, f"the database has {number} partitions", partitions=number)
