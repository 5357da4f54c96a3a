"""The built console. Without a build its tests are skipped, unless `VIVERO_CONSOLE=required`: then they fail."""

import os
from pathlib import Path

import pytest

CONSOLE = Path(__file__).parents[2] / "console"


def lacking(what: str) -> None:
    """Skip the test, or fail where nothing may be lacking."""
    if os.environ.get("VIVERO_CONSOLE") == "required":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder of the built console."""
    if not (CONSOLE / "dist" / "index.html").is_file():
        lacking("the console is not built: make console")
    return CONSOLE / "dist"
