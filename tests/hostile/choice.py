"""The cases of a hostile test that `make test` runs; `make test-long` runs the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_of(cases: Iterable[Any]) -> list[Any]:
    """Cases of which the first one is representative of all."""
    first, *others = cases
    return [pytest.param(first, marks=pytest.mark.representative), *others]
