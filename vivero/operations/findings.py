"""The findings of `vivero doctor`: judgements about a server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MEGABYTE = 1_000_000


class Level(StrEnum):
    """`PROBLEM`: data or service is in danger; `WARNING`: it may become so; `OK`: nothing to do."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One judgement."""

    level: Level
    subject: str
    text: str
    advice: str = ""
