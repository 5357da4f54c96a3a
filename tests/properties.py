"""Hypothesis as these tests use it: it does not complain about slow machines, tries half as many examples as it would
by itself, and tries the same ones in a run that is repeated."""

import os

from hypothesis import HealthCheck, given, settings

settings.register_profile(
    "vivero",
    deadline=None,
    max_examples=50,
    derandomize=bool(os.environ.get("VIVERO_SEED")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("vivero")

__all__ = ["given", "settings"]
