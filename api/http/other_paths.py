"""Paths of other versions of the API: of physical tenants (Camunda 8.10), and of version 1, which has ended."""

from __future__ import annotations

PHYSICAL_TENANT = "/physical-tenants/default"
"""A physical tenant of Camunda 8.10 has a cluster of its own. Here is one."""
_BELOW = f"{PHYSICAL_TENANT}/v2/"

_RESOURCES = {"tasks": "user-tasks", "flownode-instances": "element-instances", "drd": "decision-requirements"}
"""Names of resources in version 1 (Operate, Tasklist) → those of version 2, as far as they differ."""
_ENDS = {
    "assign": "assignment",
    "unassign": "assignee",
    "complete": "completion",
    "statistics": "statistics/element-instances",
}
"""The same for the ends of paths."""


def of_physical_tenant(path: str, raw_path: bytes | None) -> tuple[str, bytes | None]:
    """Path and raw path without the prefix of the physical tenant `default`, whose API is that of the server."""
    if not path.startswith(_BELOW):
        return path, raw_path
    prefix = PHYSICAL_TENANT.encode()
    if raw_path is not None and not raw_path.startswith(prefix):
        return path, raw_path  # with escapes, which no client sends
    return path.removeprefix(PHYSICAL_TENANT), None if raw_path is None else raw_path.removeprefix(prefix)


def in_version_2(path: str) -> str | None:
    """The path in version 2 for one of version 1. None for other paths. It may be unknown, too."""
    segments = path.split("/")
    if len(segments) < 3 or segments[1] != "v1":
        return None
    _, _, resource, *rest = segments
    if rest:
        rest[-1] = _ENDS.get(rest[-1], rest[-1])
    return "/".join(("", "v2", _RESOURCES.get(resource, resource), *rest))
