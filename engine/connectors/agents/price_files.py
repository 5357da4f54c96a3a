"""The operator's file of prices: TOML, with a table for each model and prices for a million tokens.

currency = "USD"

[models."gpt-5-mini*"]
input = 0.25
output = 2
cache_read = 0.025   # by default that of input
cache_write = 0.25   # by default that of input
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from vivero.core.agents.wires.prices import Price, Prices

KINDS = ("input", "output", "cache_read", "cache_write")
MOST = 1_000_000
"""The largest price, so that sums stay within the bounds of the database."""


class BadPrices(Exception):
    """The file of prices cannot be used."""


def read_prices(file: Path | None) -> Prices:
    """The prices of a file; none without a file. Raises BadPrices, which names what is wrong."""
    if file is None:
        return Prices()
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except (OSError, ValueError, RecursionError) as error:
        raise BadPrices(f"the file of prices {file} cannot be read: {error}") from error
    currency, models = content.pop("currency", None), content.pop("models", {})
    if not isinstance(currency, str) or not 1 <= len(currency) <= 10:
        raise BadPrices(f'the file of prices {file} must say its currency, such as currency = "USD"')
    if content or not isinstance(models, dict):
        raise BadPrices(f"the file of prices {file} has {', '.join(content) or 'models'}, which is no [models.…] table")
    return Prices(currency, [_price(file, model, given) for model, given in models.items()])


def _price(file: Path, model: str, given: Any) -> Price:
    where = f"{file}: models.{model!r}"
    if not isinstance(given, dict):
        raise BadPrices(f"{where} is not a table of prices")
    if unknown := given.keys() - set(KINDS):
        raise BadPrices(f"{where}.{min(unknown)} is not one of {', '.join(KINDS)}")
    input = _number(where, given, "input")
    return Price(
        model,
        input,
        _number(where, given, "output"),
        _number(where, given, "cache_read", input),
        _number(where, given, "cache_write", input),
    )


def _number(where: str, given: Mapping[str, Any], kind: str, default: Decimal | None = None) -> Decimal:
    value = given.get(kind, default)
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()
    if value is None or not is_number or not 0 <= value <= MOST:
        raise BadPrices(f"{where}.{kind} must be a number from 0 to {MOST}, for a million tokens")
    return Decimal(value)
