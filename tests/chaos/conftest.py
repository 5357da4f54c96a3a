"""Short runs of the chaos suite; `make chaos` does the long ones (docs/testing.md)."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/chaos/") and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.process)
