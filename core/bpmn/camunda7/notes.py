"""Notes of a conversion: what people have to do, or should look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Care(StrEnum):
    """The attention that a note asks for."""

    TODO = "todo"
    """There is no rule: the model lacks something until somebody does it."""
    CHECK = "check"
    """It was converted, and may mean something else here."""
    DROPPED = "dropped"
    """It is gone, because nothing here needs it."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note about an element. `line`: in the file that was read; None for the whole file. `advice`: the next step."""

    care: Care
    line: int | None
    element: str | None
    text: str
    advice: str

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line} "
        named = "" if self.element is None else f"'{self.element}': "
        return f"{place}{named}{self.text}. {self.advice}"
