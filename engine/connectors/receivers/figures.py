"""Counts of the receivers of a node, which metrics read without their code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ReceiverFigures:
    """Counts since the program started."""

    events: int = 0
    errors: int = 0
