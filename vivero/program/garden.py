"""The garden of the demonstration: instances in every situation, to look at in the console and to try things on.

They are real instances of the examples, made over the REST API, and are planted once in a data directory. A run that
was interrupted is continued by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from vivero.client.rest import Client, ClientError

TAG = "garden"
ENDED = 100
"""Orders that go through without a problem."""
AT_A_TIME = 20
PLANTED_TIMEOUT_S = 60.0

CLAIM = ("claim.bpmn", "file-claim.form", "review-claim.form")
FIRST_INVOICE, SECOND_INVOICE = "invoice.bpmn", "invoice-2.bpmn"
STOCK = "count-stock.bpmn"
FOLDERS = {
    "order.bpmn": "order",
    **dict.fromkeys(CLAIM, "claim"),
    **dict.fromkeys((FIRST_INVOICE, SECOND_INVOICE), "invoice"),
    STOCK: "stock",
}
CLAIMS = ({"customer": "Ada", "amount": 120}, {"customer": "Grace", "amount": 4800}, {"customer": "Alan", "amount": 75})
BROKEN: Mapping[str, Any] = {
    "customer": "Edsger",
    "card": "expired",
    "items": [{"sku": "tulip", "price": 3, "quantity": 24}],
}
SHELVES = (
    "roses",
    "ferns",
    "herbs",
    "palms",
    "bulbs",
    "seeds",
    "cacti",
    "vines",
    "ivies",
    "mosses",
    "orchids",
    "trees",
)
COUNTED = 5
"""Shelves that have been counted. No worker counts the others."""
INVOICES = {FIRST_INVOICE: (1, 2, 3), SECOND_INVOICE: (4, 5)}
"""The file of a version → the numbers of its invoices."""
INSTANCES = ENDED + len(CLAIMS) + sum(map(len, INVOICES.values())) + 2
"""All of them, with the loop and the broken order."""
SKUS = (("rose", 12), ("olive tree", 140), ("lavender", 7), ("fern", 19))


def example(name: str) -> Path:
    """The path of a file of the examples: in the installed package, or in a checkout."""
    here = Path(__file__)
    places = (here.parents[1], here.parents[2])
    found = (place / "examples" / FOLDERS[name] / name for place in places)
    return next(path for path in found if path.is_file())


async def check_credit() -> Mapping[str, Any]:
    """The work of the task of this name in the invoice: everybody is good for it."""
    return {"score": 70}


async def send_invoice() -> Mapping[str, Any]:
    """The work of the task of this name. The invoice then waits for its payment, for 14 days."""
    return {}


FUNCTIONS: dict[str, Callable[..., Any]] = {"check-credit": check_credit, "send-invoice": send_invoice}
"""The other job types of invoices have no worker: their instances stay for whoever tries the console."""


async def is_planted(client: Client) -> bool:
    """Whether all instances of the garden stand, in whatever state."""
    return (await client.search("process-instances", {"tags": [TAG]}, limit=1)).total >= INSTANCES


async def plant(client: Client, progress: Callable[[int], None]) -> None:
    """Make the instances that are missing: all, or those that an interrupted run has not made.

    Calls `progress` with the number of orders that have ended.

    Raises ClientError, and trio.TooSlowError if the workers do not get that far.
    """
    with trio.fail_after(PLANTED_TIMEOUT_S):
        found = client.search_all("process-instances", {"tags": [TAG]})
        bed = Bed(client, frozenset([str(one["businessId"]) async for one in found]))
        await client.deploy([example(name) for name in CLAIM])
        for number, claim in enumerate(CLAIMS, 1):
            await bed.plant("claim", f"CLAIM-{number}", claim)
        await _plant_invoices(bed)
        await _plant_loop(bed)
        await bed.plant("order", "ORDER-BROKEN", BROKEN)
        await _work_orders(bed, progress)


@dataclass(frozen=True, slots=True)
class Bed:
    """The server that gets the instances, and the business ids of those that stand already."""

    client: Client
    standing: frozenset[str]

    async def plant(
        self, process_id: str, business_id: str, variables: Mapping[str, Any], await_s: float | None = None
    ) -> None:
        """Start an instance, unless it stands."""
        if business_id not in self.standing:
            await self.client.create(process_id, variables, business_id=business_id, tags=[TAG], await_s=await_s)


async def _plant_invoices(bed: Bed) -> None:
    """Two versions, whose instances wait for payments or for 14 days. The first is never deployed after the second."""
    for file, numbers in INVOICES.items():
        ids = {f"INV-{number}": {"invoiceId": f"INV-{number}", "amount": 40 * number} for number in numbers}
        if ids.keys() <= bed.standing:
            continue
        await bed.client.deploy([example(file)])
        for business_id, variables in ids.items():
            await bed.plant("invoice", business_id, variables)


async def _plant_loop(bed: Bed) -> None:
    """A loop in the middle of its work."""
    client = bed.client
    await client.deploy([example(STOCK)])
    await bed.plant("count-stock", "STOCK-1", {"shelves": SHELVES})
    counted = {"processDefinitionId": "count-stock", "elementId": "count", "type": "SERVICE_TASK", "state": "COMPLETED"}
    left = COUNTED - (await client.search("element-instances", counted, limit=COUNTED)).total
    if left <= 0:
        return
    asked = {"type": "count-shelf", "maxJobsToActivate": left, "timeout": 60_000, "requestTimeout": 10_000}
    jobs = (await client.request("POST", "/v2/jobs/activation", asked)).document["jobs"]
    for number, job in enumerate(jobs):
        body = {"variables": {"plants": 10 + 3 * number}}
        await client.request("POST", f"/v2/jobs/{job['jobKey']}/completion", body)


async def _work_orders(bed: Bed, progress: Callable[[int], None]) -> None:
    """Let many orders go through, some at a time. Raises the first ClientError of them, without a group around it."""
    limit = trio.CapacityLimiter(AT_A_TIME)
    failed: list[ClientError] = []
    ended = 0

    async def order(number: int) -> None:
        nonlocal ended
        async with limit:
            sku, price = SKUS[number % len(SKUS)]
            variables = {"customer": f"Customer {number}", "card": f"4{number:03}"}
            items = [{"sku": sku, "price": price, "quantity": 1 + number % 5}]
            try:
                await bed.plant("order", f"ORDER-{number}", variables | {"items": items}, await_s=30)
            except ClientError as error:
                failed.append(error)
                nursery.cancel_scope.cancel()
                return
        ended += 1
        progress(ended)

    async with trio.open_nursery() as nursery:
        for number in range(1, ENDED + 1):
            nursery.start_soon(order, number)
    if failed:
        raise failed[0]
