"""Deliveries of the outbox webhook, through a client."""

from __future__ import annotations

from vivero.client.rest import Client, Document, path_part


async def search(client: Client, state: str | None = None, limit: int = 100) -> Document:
    """Deliveries of the outbox webhook that wait or are dead letters."""
    body = {"filter": {"state": state}, "page": {"limit": limit}}
    return (await client.request("POST", "/outbox/search", body)).document


async def get(client: Client, id: str) -> Document:
    """One delivery, with its document."""
    return await client.get(f"/outbox/{path_part(id)}")


async def change(client: Client, id: str, action: str) -> None:
    """`retry` or `drop` a dead letter."""
    path = f"/outbox/{path_part(id)}"
    await (client.request("DELETE", path) if action == "drop" else client.request("POST", f"{path}/retry"))
