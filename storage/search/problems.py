"""The problems of a search, as exceptions. The API turns them into answers with status 400."""

from __future__ import annotations


class BadQuery(Exception):
    """Base of the problems of a search."""


class Unparsable(BadQuery):
    """The property at `path` is unknown, or its value has the wrong type."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class UnexpectedValue(BadQuery):
    """The value is not one of the enumeration's."""

    def __init__(self, field: str, value: object, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{field}: {value!r}")
        self.field = field
        self.value = value
        self.allowed = allowed


class Invalid(BadQuery):
    """The search is well-formed but not possible. The message says why."""


class ItemsTooLarge(Invalid):
    """The items of the page have more bytes together than a page may have."""
