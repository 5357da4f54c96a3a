"""Fixtures of the core's tests: small models, an engine in memory with words for it, golden files.

The helper modules beside this file (`core_*.py`) may be imported by the tests.
"""

from pathlib import Path

import pytest

from tests.core.engine import Engine

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write the golden traces anew, for a reading of the diff"
    )


@pytest.fixture
def engine():
    """A `Engine` with default limits."""
    return Engine()


@pytest.fixture
def golden(request):
    """Compares a text with tests/core/golden/NAME.txt, or writes it there with --rewrite-golden."""

    def check(name, text):
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--rewrite-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path} is not there: pytest --rewrite-golden writes it"
        assert text == path.read_text(), "the trace differs: read the diff that pytest --rewrite-golden makes"

    return check
