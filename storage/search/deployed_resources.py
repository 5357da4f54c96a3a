"""Deployed files that can be searched: generic resources, and forms. Models have searches of their own."""

from __future__ import annotations

from vivero.storage.search.fields import KEY, NUMBER, TEXT, filtered, plain
from vivero.storage.search.resources import Resource

GENERIC_RESOURCES = Resource(
    "Resource",
    "generic_resources g",
    "g.resource_key",
    (
        filtered("resourceName", "g.resource_name", TEXT, sort=True),
        filtered("version", "g.version", NUMBER, sort=True),
        filtered("versionTag", "g.version_tag", TEXT, sort=True),
        filtered("resourceId", "g.resource_id", TEXT, sort=True),
        plain("tenantId", "g.tenant_id", TEXT, sort=True),
        filtered("resourceKey", "g.resource_key", KEY, sort=True),
        filtered("deploymentKey", "g.deployment_key", KEY, sort=True, shown=False),
    ),
    visible="g.state <> 'DELETED'",
    process_sql="g.resource_id",
)
"""The id of a resource stands for that of a process where grants name resources."""

FORMS = Resource(
    "Form",
    "forms f",
    "f.form_key",
    (
        filtered("resourceName", "f.resource_name", TEXT, sort=True),
        filtered("version", "f.version", NUMBER, sort=True),
        filtered("versionTag", "f.version_tag", TEXT, sort=True),
        filtered("formId", "f.form_id", TEXT, sort=True),
        plain("tenantId", "f.tenant_id", TEXT, sort=True),
        filtered("formKey", "f.form_key", KEY, sort=True),
        filtered("deploymentKey", "f.deployment_key", KEY, sort=True, shown=False),
    ),
    visible="f.state <> 'DELETED'",
    process_sql="f.form_id",
)
"""As generic resources."""
