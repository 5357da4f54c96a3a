"""What installations may choose about behaviour. Decisions made by these are in the events: replay needs none of it."""

from __future__ import annotations

from dataclasses import dataclass

from vivero.engine.feel.temporal.zones import resolve_zone


@dataclass(frozen=True, slots=True)
class TimerRules:
    """How cycles are read, and what becomes of occurrences that were missed."""

    cron_zone: str = "UTC"
    """Cron expressions are read in this time zone."""
    missed_limit: int = 1_000
    """After downtime so many missed occurrences of a cycle still fire, the latest of them; 0: none, on to the next."""

    def __post_init__(self) -> None:
        """Raises ValueError for a zone that does not exist and for a negative limit."""
        resolve_zone(self.cron_zone)
        if self.missed_limit < 0:
            raise ValueError("the limit of missed occurrences cannot be negative")


@dataclass(frozen=True, slots=True)
class TreeRules:
    """How large the trees of process instances may become, and what is loaded of them at once. In live rows: elements
    and process instances."""

    paged_from: int = 500
    """A loop is paged when its items and what is loaded with it are more: what belongs to its inner instances is loaded
    one by one, or in pages."""
    max_part_rows: int = 10_000
    """Of what is loaded together. Beyond it nothing begins there."""
    max_tree_rows: int = 1_000_000
    """Of a tree."""


TREE_RULES = TreeRules()
"""The defaults."""

MAX_LOOP_ITEMS = 200_000
"""A loop over more does not begin: all its items are saved with one batch, whose commit has a deadline."""
MAX_LOOP_CHARACTERS = 8_000_000
"""Of JSON, that all items of a loop may have together; and all its results, because they become one variable."""

MAX_STAGE_CHARACTERS = 8_000_000
"""Of JSON, that what one stage of an element copies may have: variables for a called process, values of mappings."""
STAGE_CHARACTERS_READ = 8_000_000
"""Of JSON, that the variables and results which the expressions of one stage read may have together."""
STAGE_STEPS = 400_000
"""What all expressions of one stage may take together; one alone has half of it."""
STAGE_CHANGES = 20_000
"""What one stage, or a command, may change at once: a row counts for one, a follow-up for `SEND_CHANGES`."""
SEND_CHANGES = 8

QUANTUM_CHARACTERS = 4_500_000
"""Limit of the texts (variables, items, results) that a quantum writes: one transaction saves them, and its commit has
a deadline. A client can send less than this in one request."""
QUANTUM_STEPS = 128_000
"""Limit of the steps that the expressions of a quantum take, about 10 ms. Texts and steps are charged to the same
budget as items: a quantum that has used half of the texts and half of the steps has used all of its budget."""
QUANTUM_ROWS = 2_000
"""Of variables, that those who hear of a signal at once get together."""
STAGE_VALUES = 200_000
"""Of lists, contexts and fractions, with what stands beside them, that become JSON in one stage. Of a large variable in
canonical JSON, that is used as it is, the text is taken, and nothing is counted."""
LARGE_JSON = 50_000
"""Characters of a variable from which on it is worth while to see whether it is canonical."""
VERY_LARGE_JSON = 250_000
"""A longer variable is decoded before the command runs: the shell does it in a thread."""
CHARACTERS_PER_STEP = 8
"""Of JSON that is decoded for expressions or made of their values."""
BATCH_CHARACTERS = 2_000_000
"""A batch takes no further command when what it has written is longer."""
BATCH_ROWS = 10_000
"""Nor when it has changed more rows."""
FOLLOW_UP_ROUNDS = 4
"""How often a batch loads what its follow-ups lack; what is still missing then goes through the log."""

TIMER_RULES = TimerRules()
"""The defaults."""
