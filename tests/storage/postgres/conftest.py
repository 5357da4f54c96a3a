"""Sessions are the subject of these tests: each begins and ends as in the program."""

import pytest


@pytest.fixture(autouse=True)
def always(new_sessions):
    """Before any session of a test begins."""
