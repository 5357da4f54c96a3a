"""The command `migrate-instance`. `vivero migrate` was there before it: it migrates the schema of a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from vivero.cli.processes.batches import RUNNING, change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.options import KEY, json_option, say
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document

Pairs = Mapping[str, str]
"""Source id → target id."""


@click.command()
@keys_argument(required=False)
@click.option("--to", "target", type=KEY, metavar="KEY", required=True, help="The key of the target definition.")
@click.option("--map", "maps", multiple=True, metavar="A:B", help="Map element A to B; A alone to A. May be repeated.")
@click.option("--suggested", is_flag=True, help="Map what --map leaves out as the server suggests.")
@click.option(
    "--from", "source", type=KEY, metavar="KEY", help="With --all or --show: the key of the source definition."
)
@click.option("--show", is_flag=True, help="Only print the suggested mappings with their reasons.")
@everything_options
@address_option
@json_option
def migrate_instance(
    keys: tuple[str, ...],
    target: str,
    maps: tuple[str, ...],
    suggested: bool,
    source: str | None,
    show: bool,
    everything: bool,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Migrate running process instances to another definition.

    Each active element needs a mapping. With --all the server migrates all instances of the definition --from, as a
    batch operation.

    \b
    Examples:
      vivero migrate-instance --from 2251799813685250 --to 2251799813685290 --show
      vivero migrate-instance 2251799813685251 --to 2251799813685290 --suggested
      vivero migrate-instance 2251799813685251 --to 2251799813685290 --map a:b
      vivero migrate-instance --all --from 2251799813685250 --to 2251799813685290
    """
    given: Pairs = _pairs(maps)
    if show:
        if source is None:
            raise click.UsageError("--show needs --from")
        talk(address, lambda client: _show(client, source, target, as_json))
        return
    check_target(keys, everything, {"--from": source, "--filter": filter, "--detach": detach})
    if everything:
        _migrate_all(address, source, target, given, suggested, filter or {}, detach=detach, yes=yes, as_json=as_json)
        return

    async def work(client: Client, key: str) -> Any:
        mapped: Pairs = given
        if suggested:
            definition = (await client.instance(key))["processDefinitionKey"]
            mapped = await _with_suggestions(client, definition, target, given)
        return await client.migrate(key, target, mapped)

    try_each(address, keys, work, "migrated", as_json=as_json)


def _pairs(maps: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in maps:
        before, colon, after = text.partition(":")
        if not before or (colon and not after):
            raise click.UsageError(f"--map {text}: expected A:B, or A alone")
        pairs[before] = after or before
    return pairs


def _migrate_all(
    address: str | None,
    source: str | None,
    target: str,
    given: Pairs,
    suggested: bool,
    filter: Mapping[str, Any],
    *,
    detach: bool,
    yes: bool,
    as_json: bool,
) -> None:
    if source is None:
        raise click.UsageError("--all needs --from")
    mapped = given
    if suggested:
        mapped = talk(address, lambda client: _with_suggestions(client, source, target, given))
    change_all(
        address,
        "process-instances/migration",
        "process-instances",
        {"processDefinitionKey": source, **filter},
        detach=detach,
        yes=yes,
        what="migrate",
        as_json=as_json,
        of=RUNNING,
        more={"migrationPlan": Client.migration_instructions(target, mapped)},
    )


async def _with_suggestions(client: Client, source: str, target: str, given: Pairs) -> Pairs:
    plan = await client.migration_plan(source, target)
    found = {each["sourceElementId"]: each["targetElementId"] for each in plan["mappingInstructions"]}
    return {before: after for before, after in found.items() if after not in given.values()} | dict(given)


async def _show(client: Client, source: str, target: str, as_json: bool) -> None:
    for element in (await client.migration_plan(source, target))["elements"]:
        say(element) if as_json else click.echo(_line(element))


def _line(element: Document) -> str:
    after = element["targetElementId"]
    mapped = "not mapped" if after is None else f"{after}\t{element['reason'].lower().replace('_', ' ')}"
    return f"{element['elementId']}\t{element['active']} active\t{mapped}"
