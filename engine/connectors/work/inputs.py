"""Inputs by their contract: defaults, choices, and values that come as such or as text."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from vivero.engine.connectors.contract import Contract, Input
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.jobs.durations import seconds

FLAGS = {"true": True, "false": False}


class Inputs:
    """The inputs of a call. Names are those of the contract. Every method raises ConnectorError for a wrong value."""

    def __init__(self, contract: Contract, values: Mapping[str, Any]) -> None:
        self._contract, self._values = contract, values

    def value(self, name: str) -> Any:
        """The value; the default if there is none. An empty text is none."""
        found: Any = self._values
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict | Mapping) else None
        if found is not None and found != "":
            return found
        declared = self._declared(name)
        if declared.required:
            raise bad_input(f"the input {name} is missing")
        return declared.default

    def text(self, name: str) -> str:
        """A text, or a number or a flag as one; empty if there is none. Choices are as the contract writes them."""
        value = self.value(name)
        if value is None:
            return ""
        if isinstance(value, bool):
            value = str(value).lower()
        if not isinstance(value, str | int | Decimal):
            raise bad_input(f"the input {name} must be a text")
        choices = self._declared(name).choices
        chosen = {each.lower(): each for each in choices}.get(str(value).strip().lower())
        if choices and chosen is None:
            raise bad_input(f"the input {name} must be one of {', '.join(choices)}")
        return str(value) if chosen is None else chosen

    def needed_text(self, name: str) -> str:
        """A text that is not blank, without the spaces around it, also if other choices of the call do not need it."""
        text = self.text(name).strip()
        if not text:
            raise bad_input(f"the input {name} is missing")
        return text

    def line(self, name: str) -> str:
        """A text without line breaks and other control characters, which could end a header early."""
        text = self.text(name)
        if not text.isprintable():
            raise bad_input(f"the input {name} must have no line breaks or control characters")
        return text

    def flag(self, name: str) -> bool:
        value = self.value(name)
        found = FLAGS.get(str(value).strip().lower())
        if found is None and value is not None:
            raise bad_input(f"the input {name} must be true or false")
        return bool(found)

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number within these bounds."""
        value = self.value(name)
        try:
            number = Decimal(str(value).strip())
            is_within = least <= number <= most and number == int(number)
        except InvalidOperation:  # no number, or NaN
            is_within = False
        if isinstance(value, bool) or not is_within:
            raise bad_input(f"the input {name} must be a whole number from {least} to {most}")
        return int(number)

    def duration_s(self, name: str) -> float | None:
        """The seconds of an ISO 8601 duration; None if there is none."""
        text = self.text(name).strip()
        try:
            return seconds(text) if text else None
        except ValueError as error:
            raise bad_input(f"the input {name}: {error}") from error

    def texts(self, name: str) -> list[str]:
        """A list of texts, or a text with commas between them. Empty ones are left out."""
        value = self.value(name)
        items = value if isinstance(value, list) else [] if value is None else str(value).split(",")
        if isinstance(value, dict) or any(not isinstance(item, str) for item in items if item is not None):
            raise bad_input(f"the input {name} must be a list of texts")
        return [item.strip() for item in items if item is not None and item.strip()]

    def context(self, name: str) -> dict[str, Any]:
        """A context; empty if there is none."""
        value = self.value(name)
        if value is not None and not isinstance(value, dict):
            raise bad_input(f"the input {name} must be a context")
        return value or {}

    def list(self, name: str) -> list[Any]:
        """A list; of one value if it is no list, empty if there is none."""
        value = self.value(name)
        return value if isinstance(value, list) else [] if value is None else [value]

    def _declared(self, name: str) -> Input:
        return self._contract.by_name[name]


def unavailable(message: str) -> ConnectorError:
    """The program itself cannot do it now."""
    return ConnectorError("UNAVAILABLE", message)
