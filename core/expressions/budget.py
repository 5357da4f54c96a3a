"""The budget of the expressions of a stage.

A quantum ends where its budget does, but a stage cannot be cut: beyond its own budget its element gets an incident.
"""

from __future__ import annotations

from vivero.core.records.effects import Fail, IncidentType
from vivero.core.rules import CHARACTERS_PER_STEP, STAGE_CHARACTERS_READ, STAGE_STEPS, STAGE_VALUES

LARGE = 2_000
"""Characters of JSON. Reading and encoding shorter texts is not charged."""


class StageBudget:
    """The rest of a stage's budget and of the quantum's steps. Each partition has one; `begin_stage` fills it again."""

    __slots__ = ("_characters_read", "_read", "known", "spent", "stage_steps", "steps", "steps_left", "values_left")

    def __init__(self, stage_steps: int = STAGE_STEPS) -> None:
        self.stage_steps = stage_steps
        """Steps that all expressions of a stage may take."""
        self.steps_left = stage_steps
        """Steps that the current stage has left."""
        self.steps = 0
        """Steps of the quantum so far, for evaluations and for their JSON."""
        self.spent = False
        """Whether the stage has used any of its budgets."""
        self.values_left = STAGE_VALUES
        """Values that the stage may still encode one by one."""
        self.known: dict[int, str] = {}
        """Canonical JSON of large variables that the stage has read, by identity of the value."""
        self._read: dict[int, int] = {}
        """Characters of large variables and results that the stage has read, by key."""
        self._characters_read = 0

    def begin_stage(self) -> None:
        """Begin the budgets of the next stage."""
        self.spent = False
        self.steps_left = self.stage_steps
        self.values_left = STAGE_VALUES
        if self._read:
            self.known.clear()
            self._read.clear()
            self._characters_read = 0

    def take_steps(self, steps: int) -> None:
        self.spent = True
        self.steps += steps
        self.steps_left -= steps

    def take_values(self, values: int) -> None:
        self.spent = True
        self.values_left -= values

    def charge(self, characters: int) -> None:
        """Charge `characters` of JSON that were decoded or encoded."""
        self.spent = True
        self.steps += characters // CHARACTERS_PER_STEP

    def note_read(self, key: int, characters: int) -> None:
        """Note that the stage reads a large variable, or the results of a loop. Raises Fail if it reads too much."""
        if key not in self._read:
            self.spent = True
            self._read[key] = characters
            self._characters_read += characters
            if self._characters_read > STAGE_CHARACTERS_READ:
                text = f"What is read at once has more than {STAGE_CHARACTERS_READ} characters of JSON together."
                raise Fail(IncidentType.EXTRACT_VALUE_ERROR, text)
