"""Deployed resources that can be searched: forms. Processes have a search of their own."""

from __future__ import annotations

from vivero.storage.search.fields import KEY, NUMBER, TEXT, filtered, plain
from vivero.storage.search.resources import Resource

DEPLOYED_RESOURCES = Resource(
    "Resource",
    "forms f",
    "f.form_key",
    (
        filtered("resourceName", "f.resource_name", TEXT, sort=True),
        filtered("version", "f.version", NUMBER, sort=True),
        filtered("versionTag", "f.version_tag", TEXT, sort=True),
        filtered("resourceId", "f.form_id", TEXT, sort=True),
        plain("tenantId", "f.tenant_id", TEXT, sort=True),
        filtered("resourceKey", "f.form_key", KEY, sort=True),
        filtered("deploymentKey", "f.deployment_key", KEY, sort=True, shown=False),
    ),
    visible="f.state <> 'DELETED'",
    process_sql="f.form_id",
)
"""The id of a resource stands for that of a process where grants name resources."""
