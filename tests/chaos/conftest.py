"""Short runs of the chaos suite; `make chaos` does the long ones (docs/testing.md)."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.process)
