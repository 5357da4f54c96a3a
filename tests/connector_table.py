"""The table of contracts in docs/reference/connectors.md. `make tables` writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.imports import ROOT
from vivero.engine.connectors.contents import CONTRACTS, INBOUND_CONTRACTS
from vivero.engine.connectors.contract import Contract, Input

PAGE = ROOT / "docs" / "reference" / "connectors.md"
_TABLE = re.compile(r"(<!-- contracts -->\n\n).*?(?=\n\n|\Z)", re.DOTALL)
HEAD = ("| connector, job type | inputs, with defaults; **required** | result; own error codes |", "|---|---|---|")


def page(text: str) -> str:
    """The page with its table as the contracts say."""
    return _TABLE.sub(lambda found: found[1] + "\n".join((*HEAD, *map(_row, (*CONTRACTS, *INBOUND_CONTRACTS)))), text)


def _row(contract: Contract) -> str:
    types = ", ".join(f"`{type}`" for type in contract.types)
    extra = "" if contract.extra is None else f", extra `{contract.extra}`"
    result = "; ".join(filter(None, (contract.result, ", ".join(f"`{code}`" for code in contract.errors))))
    return f"| {contract.name}, {types}{extra} | {', '.join(_inputs(contract))} | {result} |"


def _inputs(contract: Contract) -> Iterator[str]:
    """Inputs below the same context stand together: `data.` `from`, `to`."""
    before = ""
    for each in contract.inputs:
        folder, _, name = each.name.rpartition(".")
        yield f"{f'`{folder}.`… ' if folder and folder != before else ''}{_input(each, name)}"
        before = folder


def _input(each: Input, name: str) -> str:
    shown = f"**`{name}`**" if each.required else f"`{name}`"
    default = str(each.default).lower() if isinstance(each.default, bool) else each.default
    return shown if default is None else f"{shown} ({default})"
