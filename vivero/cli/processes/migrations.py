"""The command `migrate-instance`. `vivero migrate` was there before it: it migrates the schema of a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from vivero.cli.processes.batches import RUNNING, change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.processes.previews import change_each
from vivero.cli.shared.each import keys_argument
from vivero.cli.shared.options import KEY, dry_run_option, json_option, say
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document
from vivero.terminal.texts import echo

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
@click.option(
    "--include-called", is_flag=True, help="Also migrate called instances, as suggested, to the latest versions."
)
@click.option(
    "--called",
    "called",
    multiple=True,
    metavar="A:B",
    help="Also migrate called instances of definition A to B, as suggested. May be repeated.",
)
@dry_run_option()
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
    include_called: bool,
    called: tuple[str, ...],
    everything: bool,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
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
      vivero migrate-instance 5 --to 9 --suggested --include-called
      vivero migrate-instance --all --from 2251799813685250 --to 2251799813685290
    """
    planned = Planned(target, _pairs(maps, "--map"), suggested, include_called, _definitions(called))
    if show:
        if source is None:
            raise click.UsageError("--show needs --from")
        talk(address, lambda client: _show(client, source, planned, as_json))
        return
    check_target(keys, everything, {"--from": source, "--filter": filter, "--detach": detach})
    if everything:
        chosen = filter or {}
        _migrate_all(address, source, planned, chosen, detach=detach, yes=yes, dry_run=dry_run, as_json=as_json)
        return

    async def body_of(client: Client, key: str) -> Document:
        asks = planned.suggested or planned.include_called
        definition = (await client.instance(key))["processDefinitionKey"] if asks else ""
        return await planned.body(client, definition)

    change_each(address, keys, "migration", body_of, "migrated", dry_run=dry_run, yes=yes, as_json=as_json)


def _pairs(texts: Sequence[str], option: str, alone: str = ", or A alone") -> dict[str, str]:
    pairs = {}
    for text in texts:
        before, colon, after = text.partition(":")
        if not before or ((colon or not alone) and not after):
            raise click.UsageError(f"{option} {text}: expected A:B{alone}")
        pairs[before] = after or before
    return pairs


def _definitions(called: Sequence[str]) -> Pairs:
    pairs = _pairs(called, "--called", alone="")
    for key in (*pairs.keys(), *pairs.values()):
        KEY.convert(key, None, None)
    return pairs


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan as the command line gives it. `called`: source definition → target definition of called instances."""

    target: str
    given: Pairs
    suggested: bool
    include_called: bool
    called: Pairs
    compared: dict[tuple[str, str], Document] = field(default_factory=dict)
    """Suggestions that depend on two models alone: all keys share them."""

    async def body(self, client: Client, source: str) -> Document:
        """The plan with what the server suggests for instances of `source`, as requests have it."""
        plan: Document = {"mappingInstructions": [], "calledInstances": []}
        if self.suggested or self.include_called:
            plan = await self._suggestion(client, source)
        found = plan["mappingInstructions"] if self.suggested else []
        body: Document = {
            "targetProcessDefinitionKey": self.target,
            "mappingInstructions": _instructions(_targets(found), self.given),
        }
        if called := await self._called(client, plan):
            body["calledInstances"] = called
        return body

    async def _called(self, client: Client, plan: Document) -> list[Document]:
        others = [
            one for one in plan.get("calledInstances", ()) if one["sourceProcessDefinitionKey"] not in self.called
        ]
        chosen = [await self._compared(client, source, target) for source, target in self.called.items()]
        return [{name: one[name] for name in OF_CALLED} for one in (*others, *chosen)]

    async def _suggestion(self, client: Client, source: str) -> Document:
        if self.include_called:  # the server looks at the instances that run now
            return await client.migration_plan(source, self.target, include_called=True)
        return await self._compared(client, source, self.target)

    async def _compared(self, client: Client, source: str, target: str) -> Document:
        if (source, target) not in self.compared:
            self.compared[source, target] = await client.migration_plan(source, target)
        return self.compared[source, target]


OF_CALLED = ("sourceProcessDefinitionKey", "targetProcessDefinitionKey", "mappingInstructions")


def _targets(instructions: Sequence[Document]) -> dict[str, str]:
    return {one["sourceElementId"]: one["targetElementId"] for one in instructions}


def _instructions(found: Pairs, given: Pairs) -> list[Document]:
    """The mappings of a request. Given ones come before found ones."""
    mapped = {before: after for before, after in found.items() if after not in given.values()} | dict(given)
    return [{"sourceElementId": before, "targetElementId": after} for before, after in mapped.items()]


def _migrate_all(
    address: str | None,
    source: str | None,
    planned: Planned,
    filter: Mapping[str, Any],
    *,
    detach: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    if source is None:
        raise click.UsageError("--all needs --from")
    plan = talk(address, lambda client: planned.body(client, source))
    change_all(
        address,
        "process-instances/migration",
        "process-instances",
        {"processDefinitionKey": source, **filter},
        detach=detach,
        yes=yes,
        dry_run=dry_run,
        what="migrate",
        as_json=as_json,
        of=RUNNING,
        more={"migrationPlan": plan},
    )


async def _show(client: Client, source: str, planned: Planned, as_json: bool) -> None:
    plan = await client.migration_plan(source, planned.target, planned.include_called)
    for element in plan["elements"]:
        say(element) if as_json else echo(_line(element))
    for called in plan.get("calledInstances", ()):
        if not as_json:
            versions = f"version {called['sourceVersion']} to {called['targetVersion']}"
            echo(f"\n{called['processDefinitionId']}\t{called['active']} called\t{versions}")
        for element in called["elements"]:
            of_called = {"processDefinitionId": called["processDefinitionId"]}
            say(of_called | element) if as_json else echo(_line(element))


def _line(element: Document) -> str:
    after = element["targetElementId"]
    mapped = "not mapped" if after is None else f"{after}\t{element['reason'].lower().replace('_', ' ')}"
    return f"{element['elementId']}\t{element['active']} active\t{mapped}"
