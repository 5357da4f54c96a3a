"""Options that several commands have to select process instances, or what belongs to them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from vivero.cli.shared.process_ids import complete_process_id

Command = Callable[..., Any]
Selected = Mapping[str, Any]
"""Fields of a search's filter → values; None for an option that is not given."""

OPTIONS = {
    "processDefinitionId": "--process",
    "processDefinitionVersion": "--version",
    "businessId": "--business-id",
    "processInstanceKey": "--instance",
}
"""The fields of filters for which these options stand."""
_PARAMETERS = {field: option[2:].replace("-", "_") for field, option in OPTIONS.items()}


def process_option(help: str) -> Callable[[Command], Command]:
    """Add --process, whose value shells complete."""
    return click.option("--process", metavar="ID", shell_complete=complete_process_id, help=help)


def of_processes(only: str, *, version: str) -> Callable[[Command], Command]:
    """Add --process, --version and --business-id. The command gets them as its argument `selected`.

    `only`: how the help begins, such as "Only instances"; `version`: the help of --version behind it.
    """
    options = (
        process_option(f"{only} of this process."),
        click.option("--version", type=click.IntRange(1), metavar="N", help=f"{only} {version}."),
        click.option("--business-id", metavar="ID", help=f"{only} with this business id."),
    )
    return _gathering(options, ("processDefinitionId", "processDefinitionVersion", "businessId"))


def of_process_or_instance(what: str) -> Callable[[Command], Command]:
    """Add --process and --instance for a list of `what`. The command gets them as its argument `selected`."""
    options = (
        process_option(f"Only {what} of this process."),
        click.option("--instance", metavar="KEY", help=f"Only {what} of this process instance."),
    )
    return _gathering(options, ("processDefinitionId", "processInstanceKey"))


def _gathering(options: Sequence[Callable[[Command], Command]], fields: Sequence[str]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        @functools.wraps(command)
        def run(*arguments: Any, **given: Any) -> Any:
            selected = {field: given.pop(_PARAMETERS[field]) for field in fields}
            return command(*arguments, selected=selected, **given)

        with_options: Command = run
        for option in reversed(options):
            with_options = option(with_options)
        return with_options

    return add


def options_of(selected: Selected) -> dict[str, Any]:
    """The same values by the names of the options."""
    return {OPTIONS[field]: value for field, value in selected.items()}
