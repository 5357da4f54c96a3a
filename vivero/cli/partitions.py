"""The command `partitions`. It works on the database itself. A running engine learns of each change at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from vivero.cli.database import on_database
from vivero.cli.recorded import record, recorded
from vivero.cli.server import database_options
from vivero.engine.core.routes import SLOTS
from vivero.engine.runtime.more_partitions import Move, NotRaised, raise_number
from vivero.storage import audit_log, identities, routes
from vivero.storage.postgres.driver import Connection

T = TypeVar("T")


def _on_database(
    file: Path | None, data_dir: Path | None, url: str | None, work: Callable[[Connection], Awaitable[T]]
) -> T:
    return on_database(file, data_dir, url, work, NotRaised)


@click.group()
def partitions() -> None:
    """List partitions, pin tenants to them, and raise their number."""


@partitions.command("list")
@database_options
def list_(file: Path | None, data_dir: Path | None, database_url: str | None) -> None:
    """List the partitions, the number of slots that each owns, and the tenants that are pinned to each."""
    known = _on_database(file, data_dir, database_url, routes.read)
    slots = Counter(known.owner_of(slot) for slot in range(SLOTS))
    for partition in known.all:
        pinned = sorted(tenant for tenant, among in known.pins.items() if partition in among)
        click.echo(
            f"partition {partition}: {slots[partition]} slots" + (f", pinned: {', '.join(pinned)}" if pinned else "")
        )


@partitions.command("pin")
@click.argument("tenant")
@click.argument("numbers", metavar="[PARTITION]...", type=int, nargs=-1)
@database_options
def pin(
    tenant: str, numbers: tuple[int, ...], file: Path | None, data_dir: Path | None, database_url: str | None
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
    _on_database(file, data_dir, database_url, recorded(made, work, NotRaised))


@partitions.command("raise")
@click.argument("number", type=int)
@database_options
def raise_(number: int, file: Path | None, data_dir: Path | None, database_url: str | None) -> None:
    """Raise the number of partitions to NUMBER while the engine runs.

    Slots of message channels move until all partitions own equally many. If this command is interrupted, repeat it: it
    goes on where it stopped.
    """

    def told(move: Move) -> None:
        click.echo(f"moving {len(move.slots)} slots from partition {move.owner} to {move.to}")

    async def work(connection: Connection) -> None:
        await raise_number(connection, number, told)
        await audit_log.add(connection, record("partitions raise", "RESOURCE", "UPDATE", str(number)))

    _on_database(file, data_dir, database_url, work)
    click.echo(f"the database has {number} partitions")
