"""The cases of `discounts.csv`, with the fixture of Vivero's test kit."""

from typing import Any


def test_discounts(decisions: Any) -> None:
    decisions.use("discount.dmn").check("discounts.csv")
