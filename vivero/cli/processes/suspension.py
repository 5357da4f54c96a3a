"""The commands `suspend` and `resume`: by key, or everything that matches."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.processes.batches import change_all, everything_options
from vivero.cli.processes.changes import check_target
from vivero.cli.processes.previews import change_each, same_body
from vivero.cli.shared.each import keys_argument
from vivero.cli.shared.filters import Selected, of_processes, options_of
from vivero.cli.shared.options import dry_run_option, json_option
from vivero.cli.shared.server_options import address_option


@click.command()
@keys_argument(required=False)
@click.option("--reason", metavar="TEXT", help="The reason, for people.")
@click.option("--include-called", is_flag=True, help="Suspend called process instances, too. Only with keys.")
@dry_run_option()
@everything_options
@of_processes("With --all: only instances", version="of this version")
@click.option("--definition", metavar="KEY", help="With --all: only instances of this process definition.")
@address_option
@json_option
def suspend(
    keys: tuple[str, ...],
    reason: str | None,
    include_called: bool,
    everything: bool,
    selected: Selected,
    definition: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Suspend process instances: they stay where they are until they are resumed.

    \b
    Examples:
      vivero suspend 2251799813685251 --reason "the price list is wrong"
      vivero suspend --all --process order --version 3 --reason "a bug"
    """
    others = {"--definition": definition, "--filter": filter, "--detach": detach}
    check_target(keys, everything, options_of(selected) | others)
    if everything:
        if include_called:
            raise click.UsageError("--include-called needs keys")
        change_all(
            address,
            "process-instances/suspension",
            "process-instances",
            {**selected, "processDefinitionKey": definition} | (filter or {}),
            detach=detach,
            yes=yes,
            what="suspend",
            as_json=as_json,
            more={"reason": reason} if reason else {},
            dry_run=dry_run,
        )
        return

    body = same_body({"includeCalled": include_called} | ({"reason": reason} if reason else {}))
    change_each(address, keys, "suspension", body, "suspended", dry_run=dry_run, yes=yes, as_json=as_json)


@click.command()
@keys_argument(required=False)
@click.option("--include-called", is_flag=True, help="Resume called process instances, too. Only with keys.")
@dry_run_option()
@everything_options
@of_processes("With --all: only instances", version="of this version")
@click.option("--definition", metavar="KEY", help="With --all: only instances of this process definition.")
@address_option
@json_option
def resume(
    keys: tuple[str, ...],
    include_called: bool,
    everything: bool,
    selected: Selected,
    definition: str | None,
    filter: dict[str, Any] | None,
    detach: bool,
    yes: bool,
    dry_run: bool,
    address: str | None,
    as_json: bool,
) -> None:
    """Resume suspended process instances.

    \b
    Examples:
      vivero resume 2251799813685251
      vivero resume --all --process order
    """
    others = {"--definition": definition, "--filter": filter, "--detach": detach}
    check_target(keys, everything, options_of(selected) | others)
    if everything:
        if include_called:
            raise click.UsageError("--include-called needs keys")
        change_all(
            address,
            "process-instances/resumption",
            "process-instances",
            {**selected, "processDefinitionKey": definition} | (filter or {}),
            detach=detach,
            yes=yes,
            what="resume",
            as_json=as_json,
            of={"state": "SUSPENDED"},
            dry_run=dry_run,
        )
        return

    body = same_body({"includeCalled": include_called})
    change_each(address, keys, "resumption", body, "resumed", dry_run=dry_run, yes=yes, as_json=as_json)
