"""The command `connectors`: the inbound connectors of deployed processes, with their states."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.shared.options import json_option
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client
from vivero.terminal.terminal_tables import Column, field, state, time

COLUMNS = (
    Column("type", field("type")),
    Column("process", field("processDefinitionId")),
    Column("element", field("elementId")),
    Column("state", state),
    Column("waiting", field("waitingElementInstances"), spare=2),
    Column("events", field("events"), spare=1),
    Column("last event", time("lastEventTime"), spare=1),
    Column("last error", field("lastError"), wraps=True),
)


@click.command()
@address_option
@json_option
def connectors(address: str | None, as_json: bool) -> None:
    """List inbound connectors: their states, last events and last errors.

    FAILING: the latest attempt failed, and the next ones follow. CONFLICT: another process has the path of the webhook.

    \b
    Examples:
      vivero connectors
      vivero connectors --json
    """
    found = talk(address, _all)
    print_rows(found, COLUMNS, as_json)


async def _all(client: Client) -> list[Any]:
    """The items of all pages."""
    items: list[Any] = []
    while True:
        page = await client.get(f"/inbound-connectors?from={len(items)}")
        items += page["items"]
        if not page["items"] or len(items) >= page["page"]["totalItems"]:
            return items
