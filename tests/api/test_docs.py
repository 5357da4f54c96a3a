"""The documentation names every route."""

import re
from pathlib import Path

from vivero.api.routes import ROUTES

PAGE = (Path(__file__).parents[2] / "docs" / "rest-api.md").read_text(encoding="utf-8")


def test_every_route_is_documented():
    missing = [f"{route.method} {route.path}" for route in ROUTES if f"`{route.method} {route.path}`" not in PAGE]
    assert missing == []


def test_no_route_is_documented_that_is_not_there():
    documented = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)`", PAGE))
    assert documented == {f"{route.method} {route.path}" for route in ROUTES}
