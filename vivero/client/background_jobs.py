"""Background jobs, through a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.client.rest import Client, Document, path_part


async def add(
    client: Client,
    type: str,
    payload: Any = None,
    execute_at: str | None = None,
    unique_key: str | None = None,
    allow_unknown_type: bool = False,
) -> Document:
    """Add an execution of a type of background job; its id. An unknown type is refused unless it is allowed."""
    body = {"type": type, "payload": payload, "executeAt": execute_at, "uniqueKey": unique_key}
    if allow_unknown_type:
        body["allowUnknownType"] = True
    return (await client.request("POST", "/background-jobs", body)).document


async def search(client: Client, filter: Mapping[str, Any], first: int = 0, limit: int = 100) -> Document:
    """Executions that have not succeeded, the one that is due last first."""
    body = {"filter": filter, "page": {"from": first, "limit": limit}}
    return (await client.request("POST", "/background-jobs/search", body)).document


async def get(client: Client, id: str) -> Document:
    """One execution."""
    return await client.get(f"/background-jobs/{path_part(id)}")


async def change(client: Client, id: str, action: str) -> None:
    """`run`, `retry`, `cancel` or `delete` an execution."""
    path = f"/background-jobs/{path_part(id)}"
    await (client.request("DELETE", path) if action == "delete" else client.request("POST", f"{path}/{action}"))


async def delete(client: Client, filter: Mapping[str, Any]) -> Document:
    """Delete some executions that match; how many, and whether more match."""
    return (await client.request("POST", "/background-jobs/deletion", {"filter": filter})).document


async def types(client: Client, kind: str = "user") -> Document:
    """The types that have executions, are paused, or are known to a node: of a `user`, a `chore`, or `any`."""
    return await client.get(f"/background-job-types?kind={kind}")


async def consumers(client: Client) -> Document:
    """The position of each consumer of events in each partition."""
    return await client.get("/background-job-consumers")


async def pause(client: Client, type: str, paused: bool) -> None:
    """Begin no runs of a type on any node, or do so again."""
    await client.request("PUT" if paused else "DELETE", f"/background-job-types/{path_part(type)}/pause")


async def drop_consumer(client: Client, type: str) -> None:
    """Forget a consumer of events that no node runs any more."""
    await client.request("DELETE", f"/background-job-consumers/{path_part(type)}")
