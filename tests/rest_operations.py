"""The operations of Camunda's REST API in docs/rest-api.md. `make tables` writes the table from a list and the routes.

The list docs/rest-operations.csv has every operation of the versions 8.9 and 8.10. Its last column is empty for an
operation that is served whole. `partly: …` says what of a served one is missing, `not yet` and `no: …` are for those
without a route. `since` is empty for operations that are older than 8.9.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from tests.imports import ROOT
from vivero.api.routes import ROUTES

LIST = ROOT / "docs" / "rest-operations.csv"
PAGE = ROOT / "docs" / "rest-api.md"
_TABLE = re.compile(r"(<!-- operations -->\n\n).*?(?=\n\n## )", re.DOTALL)
MOST_NAMES = 3
"""More operations than this are counted, not named."""
_PARAMETER = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the list."""

    group: str
    operation: str
    method: str
    path: str
    since: str
    here: str

    @property
    def endpoint(self) -> tuple[str, str]:
        return endpoint(self.method, self.path)


def endpoint(method: str, path: str) -> tuple[str, str]:
    """Method and path, with all parameters alike: their names are different in Camunda's documents and ours."""
    return method, _PARAMETER.sub("{}", path)


def operations() -> list[Operation]:
    """The rows of the list. Raises TypeError for a row with too many or too few columns."""
    with LIST.open(encoding="utf-8", newline="") as file:
        return [Operation(**row) for row in csv.DictReader(file, strict=True)]


def served() -> set[tuple[str, str]]:
    """Method and path of all routes."""
    return {endpoint(route.method, route.path) for route in ROUTES}


def state(operation: Operation) -> str:
    """The third column of the table. An operation that has got a route is served, whatever the list says."""
    if operation.endpoint not in served():
        return operation.here
    return operation.here if operation.here.startswith("partly: ") else "yes"


def table() -> str:
    """One item for all operations of a group that lack the same, and came with the same version of Camunda."""
    counts = [state(operation).partition(":")[0] for operation in operations()]
    told = ", ".join(f"{counts.count(name)} {name}" for name in ("yes", "partly", "not yet", "no"))
    return f"The API has {len(counts)} operations: {told}.\n\n" + "\n".join(_items())


def _items() -> Iterator[str]:
    """Operations that are served whole have no item. The list has the names of many that lack the same."""
    for group, members in groupby(operations(), key=lambda operation: operation.group):
        alike: dict[tuple[str, str], list[str]] = {}
        for operation in members:
            if (here := state(operation)) != "yes":
                alike.setdefault((operation.since, here), []).append(f"`{operation.operation}`")
        for (since, here), names in alike.items():
            named = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} operations"
            yield f"- {group} ({since or 'before 8.9'}): {here}: {named}"


def page(text: str) -> str:
    """The page with its table as list and routes say."""
    return _TABLE.sub(lambda found: found[1] + table(), text)
