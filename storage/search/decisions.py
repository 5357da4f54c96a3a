"""Decisions and decision requirements that can be searched."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.fields import KEY, NUMBER, TEXT, plain
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Unparsable
from vivero.storage.search.resources import Resource


def _latest_version(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    newer = (
        "SELECT FROM decision_definitions n WHERE n.tenant_id = d.tenant_id AND n.decision_id = d.decision_id"
        " AND n.version > d.version AND n.state = 'ACTIVE'"
    )
    return f"NOT EXISTS ({newer})" if value else f"EXISTS ({newer})"


DECISION_DEFINITIONS = Resource(
    "Decision definition",
    "decision_definitions d JOIN decision_requirements r USING (decision_requirements_key)",
    "d.decision_definition_key",
    (
        plain("decisionDefinitionId", "d.decision_id", TEXT, sort=True),
        plain("name", "d.name", TEXT, sort=True),
        plain("version", "d.version", NUMBER, sort=True),
        plain("versionTag", "d.version_tag", TEXT, sort=True),
        plain("decisionRequirementsId", "r.requirements_id", TEXT, sort=True),
        plain("tenantId", "d.tenant_id", TEXT, sort=True),
        plain("decisionDefinitionKey", "d.decision_definition_key", KEY, sort=True),
        plain("decisionRequirementsKey", "d.decision_requirements_key", KEY, sort=True),
        plain("decisionRequirementsName", "r.name", TEXT, sort=True),
        plain("decisionRequirementsVersion", "r.version", NUMBER, sort=True),
    ),
    visible="d.state <> 'DELETED'",
    special={"isLatestVersion": _latest_version},
    process_sql="d.decision_id",
)
"""The id of a decision stands for that of a process where grants name resources."""

DECISION_REQUIREMENTS = Resource(
    "Decision requirements",
    "decision_requirements r",
    "r.decision_requirements_key",
    (
        plain("decisionRequirementsName", "r.name", TEXT, sort=True),
        plain("decisionRequirementsId", "r.requirements_id", TEXT, sort=True),
        plain("decisionRequirementsKey", "r.decision_requirements_key", KEY, sort=True),
        plain("version", "r.version", NUMBER, sort=True),
        plain("tenantId", "r.tenant_id", TEXT, sort=True),
        plain("resourceName", "r.resource_name", TEXT),
    ),
    visible="r.state <> 'DELETED'",
    process_sql="r.requirements_id",
)
"""So does the id of decision requirements."""
