"""The instances by their numbers: real and generated ones with the same number are alike."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.model import ONE_TASK

MOST, OTHER, RARE = "measured", "measured-other", "measured-rare"
MODELS = {
    f"{id}.bpmn": ONE_TASK.replace(b'process id="measured"', f'process id="{id}"'.encode())
    for id in (MOST, OTHER, RARE)
}
RARELY = 1_000
KEEPING = {"VIVERO_RETENTION_INSTANCES": "never"}
"""The environment of programs: the first copies are older than what retention keeps."""
AMOUNT = 700_000_000


def process_of(number: int) -> str:
    """One instance in `RARELY` is of one process, a tenth of another one, the rest of the third."""
    if number % RARELY == 7:
        return RARE
    return OTHER if number % 10 == 3 else MOST


def is_canceled(number: int) -> bool:
    """One in a hundred is canceled, the others complete."""
    return number % 100 == 51


def variety_of(number: int) -> str:
    """Instances of one variety have the same process and end, and rows that differ only in keys, times and values."""
    return f"{process_of(number)} {'canceled' if is_canceled(number) else 'completed'} {_express(number)}"


def _express(number: int) -> bool:
    return number % 2 == 0


def order_of(number: int) -> str:
    """The value of a variable that no two instances share."""
    return f"o-{number:07}"


def business_id_of(number: int) -> str:
    """A business id that no two instances share."""
    return f"b-{number:07}"


def amount_of(number: int) -> int:
    """The value of a variable that one instance in a thousand has."""
    return AMOUNT + number % 1_000


def number_of(order: str) -> int:
    """The number of the instance with this order."""
    found = re.fullmatch(r"o-(\d{7,})", order)
    if found is None:
        raise ValueError(f"{order!r} is not an order of this benchmark")
    return int(found[1])


def creation_of(number: int) -> dict[str, Any]:
    """The body of the request that creates the instance."""
    return {
        "processDefinitionId": process_of(number),
        "businessId": business_id_of(number),
        "variables": {"orderId": order_of(number), "amount": amount_of(number), "express": _express(number)},
    }
