"""The snapshot of an instance tree, with an entity tag that each change of the tree changes."""

from __future__ import annotations

from vivero.api.commands.preconditions import entity_tag, is_known
from vivero.api.http.problems import Problem, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.snapshots.codec import encode
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.state.snapshots import CalledInstance, TooLarge, read_snapshot


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/snapshot: 409 for a called instance, and for a tree beyond the limits."""
    key = request.key("processInstanceKey")
    try:
        snapshot = await read_of(
            services, request.tenants, lambda connection, tenants: read_snapshot(connection, key, tenants)
        )
    except CalledInstance as error:
        raise _conflict(
            key, f"it is created by a parent process instance. Get the snapshot of the root '{error.root}' instead"
        ) from error
    except TooLarge as error:
        raise _conflict(key, str(error)) from error
    if snapshot is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    tag = entity_tag(snapshot.version)
    if is_known(request, snapshot.version):
        return Response(304, b"", (tag,))
    return json_response(encode(snapshot).encode(), tag)


def _conflict(key: int, reason: str) -> Problem:
    return Problem(
        409, "INVALID_STATE", f"Expected to get a snapshot of process instance with key '{key}', but {reason}"
    )
