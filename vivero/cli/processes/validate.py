"""The command `validate`: the checks of a deployment, without a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from vivero.api.deployment.problems import webhook_problems
from vivero.api.deployment.warnings import files_elsewhere, lacking, warnings_of
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.files import FILES, shown_names
from vivero.cli.shared.options import CONFIG, json_option, say
from vivero.cli.shared.settings import settings
from vivero.config.files import Unreadable, read_bytes
from vivero.config.sections import Config
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.xml import LIMITS
from vivero.core.resources.kinds import read_resources
from vivero.core.resources.problems import problems_of
from vivero.terminal.texts import echo


@click.command()
@FILES
@click.option("--strict", is_flag=True, help="Warnings are problems, too.")
@CONFIG
@json_option
@click.pass_context
def validate(context: click.Context, files: tuple[Path, ...], strict: bool, file: Path | None, as_json: bool) -> None:
    """Check BPMN files, forms and decisions as a deployment does, without a server. The exit code is 1 for a problem.

    A directory stands for its files .bpmn, .form and .dmn, also those in directories below. The problems and warnings
    are those of `vivero deploy`. With the --config of the server its limits hold, and its
    connectors are known. What other deployments have is not known here: forms that are not among the files are
    warnings, and webhook paths of other processes are found by the deployment only.

    \b
    Examples:
      vivero validate claim.bpmn review-claim.form
      vivero validate --strict models/
    """
    chosen = settings(file)
    contents = {name: _content(each) for each, name in zip(files, shown_names(files), strict=True)}
    parsed = read_resources(contents, replace(LIMITS, feel=chosen.feel.limits))
    problems, warnings = _problems(parsed, chosen), _warnings(parsed, chosen)
    valid = not problems and not (strict and warnings)
    if as_json:
        say({"valid": valid, "problems": problems, "warnings": warnings})
    else:
        _print(parsed, problems, warnings)
    context.exit(0 if valid else 1)


def _content(file: Path) -> bytes:
    try:
        return read_bytes(file)
    except Unreadable as error:
        raise Failure(str(error)) from error


def _problems(parsed: list[Parsed], chosen: Config) -> list[str]:
    """As the server: webhooks are checked when nothing else is wrong."""
    return problems_of(parsed) or (webhook_problems(parsed) if chosen.connectors.enabled else [])


def _warnings(parsed: list[Parsed], chosen: Config) -> list[str]:
    found = warnings_of(parsed, chosen.connectors.enabled)
    return found + [
        lacking(resource, node, named, "is among the files") for resource, node, named in files_elsewhere(parsed)
    ]


def _print(parsed: list[Parsed], problems: list[str], warnings: list[str]) -> None:
    for resource in parsed if not problems else ():
        what = [f"process {process.id}" for process in resource.processes]
        what += [] if resource.form is None else [f"form {resource.form.id}"]
        what += [] if resource.generic is None else [f"resource {resource.generic.id}"]
        what += [] if resource.decisions is None else [f"decision {each.id}" for each in resource.decisions.decisions]
        echo(f"{resource.resource}: {', '.join(what)}")
    for problem in problems:
        echo(problem, err=True)
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
