"""The jobs of the support mail: `vivero worker examples/agent/mail.py` works them on a server."""

from __future__ import annotations

from typing import Any

from vivero.worker import Worker

worker = Worker()
ORDERS = {17: {"article": "lemon tree", "parcel": "P-17", "daysLate": 3}, 18: {"article": "olive tree", "parcel": None}}


@worker.job("find-order")
def find_order(order: int) -> dict[str, Any]:
    """The result of the tool: what the shop knows about an order."""
    return {"toolCallResult": ORDERS.get(order, "There is no such order.")}


@worker.job("send-mail")
def send_mail(sender: str, answer: str) -> dict[str, str]:
    """Here it is printed. A real one would use the e-mail connector."""
    print(f"To: {sender}\n\n{answer}")
    return {"sentTo": sender}
