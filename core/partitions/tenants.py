"""Tenants of commands.

A command that begins work names one tenant: a deployment, a new instance, a message. A command by key names none: it
has the tenants that its sender may use, and takes that of the element, job or task with the key. The log stores these
tenants in the command's row as one text, ids with commas between them. Ids contain neither a comma nor a star.
"""

from __future__ import annotations

from collections.abc import Collection

EVERY_TENANT = "*"
_SEPARATOR = ","


def joined(tenants: Collection[str] | None) -> str:
    """The text for these tenants; None: for all."""
    return EVERY_TENANT if tenants is None else _SEPARATOR.join(sorted(tenants))


def covers(tenants: str, tenant: str) -> bool:
    """Whether the text includes a tenant."""
    return tenants in (EVERY_TENANT, tenant) or tenant in tenants.split(_SEPARATOR)
