"""The official Python client.

Its import takes two seconds of CPU. Every process collects all tests, so only a test that uses the client imports it.
"""

import re
from typing import Any

import pytest

PACKAGE = "camunda_orchestration_sdk"


class Later:
    """A module that is imported when somebody first asks for an attribute. Without the client the test is skipped."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # what pytest asks of everything that it finds in a module of tests
            raise AttributeError(attribute)
        return getattr(pytest.importorskip(self._name, reason="the official client is not installed"), attribute)


sdk = Later(PACKAGE)
models = Later(f"{PACKAGE}.models")


def decode(name: str, document: Any) -> Any:
    """The client's model `name` of a document. It raises for a missing field and for an unknown value."""
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return getattr(Later(f"{PACKAGE}.models.{module}"), name).from_dict(document)
