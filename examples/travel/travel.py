"""A trip is booked as a whole or not at all: hotel, flight and card, and for each of them what undoes it.

Two travellers: one cancels the trip after it has been booked, the other has no money. `WORK` are the workers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

SERVER = os.environ.get("CAMUNDA_REST_ADDRESS", "http://localhost:8080").removesuffix("/v2")
Variables = dict[str, Any]


class Declined(Exception):
    """The card cannot be charged."""


# ---- the workers: each gets the variables of its job, and returns its results


def charge_card(variables: Variables) -> Variables:
    if variables["price"] > variables["balance"]:
        raise Declined
    return {"payment": f"{variables['price']} euros"}


WORK: dict[str, Callable[[Variables], Variables]] = {
    "book-hotel": lambda variables: {"hotel": f"a room in {variables['city']}"},
    "book-flight": lambda variables: {"flight": f"a seat to {variables['city']}"},
    "charge-card": charge_card,
    "refund-card": lambda variables: {"undone": variables["payment"]},
    "cancel-flight": lambda variables: {"undone": variables["flight"]},
    "cancel-hotel": lambda variables: {"undone": variables["hotel"]},
}
"""Type of job → the function that does it."""


def work(type: str) -> None:
    """Do the jobs of a type that there are."""
    asked = {"type": type, "maxJobsToActivate": 10, "timeout": 60_000, "requestTimeout": -1, "worker": "example"}
    for job in call("POST", "/v2/jobs/activation", asked)["jobs"]:
        try:
            result = WORK[type](job["variables"])
        except Declined:
            print(f"worker    {type}: declined")
            call("POST", f"/v2/jobs/{job['jobKey']}/error", {"errorCode": "DECLINED"})
        else:
            print(f"worker    {type}: {', '.join(result.values())}")
            call("POST", f"/v2/jobs/{job['jobKey']}/completion", {"variables": result})


# ---- the travellers


def travel(traveller: str, balance: int) -> None:
    print(f"{traveller:<9} wants to go to Lisbon, and has {balance} euros")
    variables = {"traveller": traveller, "city": "Lisbon", "price": 420, "balance": balance}
    created = {"processDefinitionId": "travel", "variables": variables | {"departure": "2999-05-01T08:00:00Z"}}
    key = call("POST", "/v2/process-instances", created)["processInstanceKey"]
    while is_active(key):
        for type in WORK:
            work(type)
        if reached(key, "Trip booked") and not reached(key, "Trip cancelled"):
            print(f"{traveller:<9} cancels the trip")
            call("POST", "/v2/messages/publication", {"name": "trip-cancelled", "correlationKey": traveller})
    (end,) = (name for name in ("Trip undone", "Nothing booked") if reached(key, name))
    print(f"{traveller:<9} {end}")


def is_active(instance: str) -> bool:
    return bool(call("GET", f"/v2/process-instances/{instance}")["state"] == "ACTIVE")


def reached(instance: str, name: str) -> bool:
    """Whether an element of this name has completed."""
    wanted = {"processInstanceKey": instance, "elementName": name, "state": "COMPLETED"}
    return bool(call("POST", "/v2/element-instances/search", {"filter": wanted})["items"])


# ---- HTTP


def call(method: str, path: str, body: Any = None, content: bytes = b"", type: str = "application/json") -> Any:
    data = content or (None if body is None else json.dumps(body).encode())
    with urlopen(Request(SERVER + path, data, {"Content-Type": type}, method=method)) as response:
        return json.loads(response.read() or b"null")


def deploy(path: Path) -> None:
    head = f'--part\r\nContent-Disposition: form-data; name="resources"; filename="{path.name}"\r\n\r\n'
    content = head.encode() + path.read_bytes() + b"\r\n--part--\r\n"
    call("POST", "/v2/deployments", content=content, type="multipart/form-data; boundary=part")


def main() -> None:
    deploy(Path(__file__).with_name("travel.bpmn"))
    travel("ann", balance=500)
    travel("bob", balance=100)


if __name__ == "__main__":
    main()
