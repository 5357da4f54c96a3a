"""The repetitions of a random test: a few in `make test`, many in `make test-long`."""

import os

import pytest


def few_and_many(few: int, many: int, variable: str = "") -> pytest.MarkDecorator:
    """Parametrise `count`. An environment variable replaces `many`, for runs by hand."""
    many = int(os.environ.get(variable) or many)
    return pytest.mark.parametrize(
        "count", [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.long)]
    )
