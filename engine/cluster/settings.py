"""How often nodes look at each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Times are in seconds."""

    look_s: float = 1.0
    """How often a node that leads all partitions looks."""
    watch_s: float = 0.25
    """How often a node looks that may have to take over a partition."""
    grace_s: float = 1.0
    """A free partition that is meant for another node is claimed after this time."""
