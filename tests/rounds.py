"""The repetitions of a random test: a few in `make test`, many in `make test-long`."""

import os
from collections.abc import Callable, Iterator

import pytest

TIMES = 10
"""A random test draws at most that many times as many cases as it wants."""


def few_and_many(few: int, many: int, variable: str = "") -> pytest.MarkDecorator:
    """Parametrise `count`. An environment variable replaces `many`, for runs by hand."""
    many = int(os.environ.get(variable) or many)
    return pytest.mark.parametrize(
        "count", [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.long)]
    )


def drawn(seed: int, count: int, enough: Callable[[], bool]) -> Iterator[int]:
    """The seeds of `count` random cases, and of further ones until there was enough to tell something.

    The cases of some seeds do nothing worth a comparison, and a test must not fail by its seed alone.
    """
    for number in range(TIMES * count):
        if number >= count and enough():
            return
        yield seed + number
