"""The earlier names of `tests/core/engine.py`."""

from tests.core.engine import *  # noqa: F403
from tests.core.engine import Engine

Bench = Engine
