"""The rows of the catalogue, as they are in memory: deployments and the versions of processes."""

from __future__ import annotations

from vivero.engine.core.state.rows import Row


class Definition(Row):
    """A version of a process: a row of `process_definitions`."""

    deployment: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource: str
    sha256: str
    state: str
    deployed_at: int


class Usage(Row):
    """How many instances of a definition (its key) run in this partition."""

    running: int


class Deployment(Row):
    tenant: str
    deployed_at: int


Family = dict[int, Definition]
"""All versions of one process id of a tenant, deleted ones included: their numbers are not given again."""
