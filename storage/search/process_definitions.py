"""Process definitions that can be searched."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.fields import ENUM, FLAG, KEY, NUMBER, TEXT, TIME, Field, filtered, plain
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Unparsable
from vivero.storage.search.resources import Resource

DEFINITION_STATES = ("ACTIVE", "DRAINING", "DELETED")


def _latest_version(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    newer = (
        "SELECT FROM process_definitions n WHERE n.tenant_id = d.tenant_id AND n.process_id = d.process_id"
        " AND n.version > d.version AND n.state = 'ACTIVE'"
    )
    latest = f"d.state = 'ACTIVE' AND NOT EXISTS ({newer})"
    return latest if value else f"NOT ({latest})"


PROCESS_DEFINITIONS = Resource(
    "Process definition",
    "process_definitions d",
    "d.process_definition_key",
    (
        filtered("name", "d.name", TEXT, sort=True),
        plain("resourceName", "d.resource_name", TEXT, sort=True),
        plain("version", "d.version", NUMBER, sort=True),
        plain("versionTag", "d.version_tag", TEXT, sort=True),
        filtered("processDefinitionId", "d.process_id", TEXT, sort=True),
        plain("tenantId", "d.tenant_id", TEXT, sort=True),
        plain("processDefinitionKey", "d.process_definition_key", KEY, sort=True),
        plain("hasStartForm", "d.start_form_id IS NOT NULL", FLAG),
        plain("deploymentKey", "d.deployment_key", KEY),
        Field("deploymentDate", "d.deployed_at", TIME),
        plain("state", "d.state", ENUM, values=DEFINITION_STATES),
    ),
    visible="d.state <> 'DELETED'",
    special={"isLatestVersion": _latest_version},
)
