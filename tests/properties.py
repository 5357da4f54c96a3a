"""Hypothesis as these tests use it: no complaint about slow machines, and the same values in a run that is repeated."""

import os

from hypothesis import HealthCheck, given, settings

settings.register_profile(
    "vivero",
    deadline=None,
    derandomize=bool(os.environ.get("VIVERO_SEED")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("vivero")

__all__ = ["given", "settings"]
