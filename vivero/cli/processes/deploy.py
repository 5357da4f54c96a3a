"""The command `deploy`."""

from __future__ import annotations

from pathlib import Path

import click

from vivero.cli.shared.files import FILES
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.server_options import address_option, talk
from vivero.terminal.texts import echo


@click.command()
@FILES
@address_option
@json_option
def deploy(files: tuple[Path, ...], address: str | None, as_json: bool) -> None:
    """Deploy all files, or none if one has a problem: BPMN files, forms, decisions, and any other file.

    A directory stands for its files .bpmn, .form and .dmn, also those in directories below. Any other file must be
    named, and is stored for job workers. A file that did not change since its last deployment keeps its version.

    \b
    Examples:
      vivero deploy claim.bpmn review-claim.form
      vivero deploy models/ prompts/welcome.md
    """
    answer = talk(address, lambda client: client.deploy(files))
    if as_json:
        say(answer)
        return
    if "deployments" not in answer:
        echo(f"queued as command {answer['commandPosition']}")
        return
    for item in answer["deployments"]:
        if (process := item["processDefinition"]) is not None:
            echo(
                f"{process['processDefinitionId']} version {process['processDefinitionVersion']}"
                f" (key {process['processDefinitionKey']}) from {process['resourceName']}"
            )
        elif (form := item["form"]) is not None:
            echo(f"form {form['formId']} version {form['version']} (key {form['formKey']}) from {form['resourceName']}")
        elif (resource := item["resource"]) is not None:
            echo(
                f"resource {resource['resourceId']} version {resource['version']} (key {resource['resourceKey']})"
                f" from {resource['resourceName']}"
            )
        elif (decision := item["decisionDefinition"]) is not None:
            echo(
                f"decision {decision['decisionDefinitionId']} version {decision['version']}"
                f" (key {decision['decisionDefinitionKey']})"
            )
        elif (requirements := item["decisionRequirements"]) is not None:
            echo(
                f"decision requirements {requirements['decisionRequirementsId']} version {requirements['version']}"
                f" (key {requirements['decisionRequirementsKey']}) from {requirements['resourceName']}"
            )
    for warning in answer.get("warnings", ()):
        echo(f"warning: {warning}", err=True)
