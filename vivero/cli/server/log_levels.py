"""The command `log-levels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from vivero.cli.server.nodes import chosen
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document
from vivero.engine.log_levels import problem_of
from vivero.terminal.terminal_tables import Column, field
from vivero.terminal.texts import as_markup

COLUMNS = (
    Column("node", field("nodeId")),
    Column("changed levels", lambda node: as_markup(shown(node["logLevels"]))),
)


@click.command("log-levels")
@click.argument("changes", nargs=-1, metavar="[LOGGER=LEVEL]...")
@click.option("--node", metavar="NODE", help="Only this node: its name, or a part that no other node has.")
@click.option("--reset", is_flag=True, help="Take all changes back: the levels of the settings hold again.")
@address_option
@json_option
def log_levels(changes: Sequence[str], node: str | None, reset: bool, address: str | None, as_json: bool) -> None:
    """Show and change what loggers log, while the nodes run.

    A logger has the name of a module; the longest beginning that is named counts. Levels are debug, info, warning and
    error. Changes hold at all live nodes, or at one, until they are taken back or the node ends.

    \b
    Examples:
      vivero log-levels
      vivero log-levels vivero.engine=debug vivero.api=warning
      vivero log-levels vivero.engine.consumer=debug --node blue
      vivero log-levels --reset
    """
    if reset and changes:
        raise click.UsageError("--reset takes all changes back, so give no LOGGER=LEVEL")
    given = parsed(changes)

    async def work(client: Client) -> list[Document]:
        found = await client.nodes()
        nodes = _nodes(found, node)
        for one in nodes if changes or reset else ():
            levels = {} if reset else one["logLevels"] | given
            if (problem := problem_of(levels)) is not None:
                raise Failure(f"node {one['nodeId']}: {problem}")
            await client.set_log_levels(one["nodeId"], levels)
            one["logLevels"] = levels
        return nodes

    nodes = talk(address, work)
    if as_json:
        for one in nodes:
            say({"nodeId": one["nodeId"], "logLevels": one["logLevels"]})
    else:
        print_rows(nodes, COLUMNS)


def parsed(changes: Sequence[str]) -> dict[str, str]:
    """The levels by logger. Raises UsageError."""
    levels = {}
    for change in changes:
        logger, equals, level = change.partition("=")
        if not equals:
            raise click.UsageError(f"'{change}' is not LOGGER=LEVEL, such as vivero.engine=debug")
        levels[logger] = level
    if (problem := problem_of(levels)) is not None:
        raise click.UsageError(problem)
    return levels


def _nodes(found: Document, part: str | None) -> list[Document]:
    """The live nodes, or the one that was named."""
    named = None if part is None else chosen(found, part)
    return [one for one in found["nodes"] if (one["nodeId"] == named if named else one["state"] != "DEAD")]


def shown(levels: Mapping[str, Any]) -> str:
    return ", ".join(f"{logger}={level}" for logger, level in sorted(levels.items())) or "none"
