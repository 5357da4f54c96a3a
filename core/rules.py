"""Settings and limits of behaviour. The events contain the decisions that depend on them: replay needs none."""

from __future__ import annotations

from dataclasses import dataclass

from vivero.core.feel.temporal.zones import resolve_zone


@dataclass(frozen=True, slots=True)
class TimerRules:
    """The time zone of cycles, and the handling of missed occurrences."""

    cron_zone: str = "UTC"
    """The time zone of cron expressions."""
    missed_limit: int = 1_000
    """The number of missed occurrences of a cycle, the latest ones, that still fire after downtime; 0: none."""

    def __post_init__(self) -> None:
        """Raises ValueError for a zone that does not exist and for a negative limit."""
        resolve_zone(self.cron_zone)
        if self.missed_limit < 0:
            raise ValueError("the limit of missed occurrences cannot be negative")


@dataclass(frozen=True, slots=True)
class TreeRules:
    """Limits of instance trees, in live rows: elements and process instances."""

    paged_from: int = 500
    """A loop is paged if its items, and the rows that are loaded with it, are more than this."""
    max_part_rows: int = 10_000
    """Rows that are loaded together. Beyond this limit no element begins there."""
    max_tree_rows: int = 1_000_000
    """Rows of a tree."""
    max_whole_rows: int = 20_000
    """Rows of a tree that an operation on the whole tree loads."""
    migration_page: int = 500
    """Elements of an instance that one quantum of a migration renames."""


TREE_RULES = TreeRules()
"""The defaults."""

MAX_LOOP_ITEMS = 200_000
"""The most items of a loop. One batch saves all of them, and its commit has a deadline."""
MAX_ACTIVATIONS = 10_000
"""Elements that may wait for their activation in an ad-hoc sub-process. Each quantum saves those that are left."""
MAX_LOOP_CHARACTERS = 8_000_000
"""Characters of JSON in all items of a loop. The results, which become one variable, have the same limit."""

MAX_STAGE_CHARACTERS = 8_000_000
"""Characters of JSON that one stage of an element may copy: variables for a called process, values of mappings."""
STAGE_CHARACTERS_READ = 8_000_000
"""Characters of JSON in the variables and results that the expressions of one stage may read."""
STAGE_STEPS = 400_000
"""Steps that all expressions of one stage may take together. One expression may take half of them."""
STAGE_CHANGES = 20_000
"""Changes of one stage, or of a command: a row counts as one, a follow-up as `SEND_CHANGES`."""
SEND_CHANGES = 8

QUANTUM_CHARACTERS = 4_500_000
"""Limit of the texts (variables, items, results) that a quantum writes: one transaction saves them, and its commit has
a deadline. A client can send less than this in one request."""
QUANTUM_STEPS = 128_000
"""Limit of the steps that the expressions of a quantum take, about 10 ms. Texts and steps are charged to the same
budget as items: a quantum that has used half of the texts and half of the steps has used all of its budget."""
PENDING_START_MS = 30 * 24 * 60 * 60 * 1_000
"""The time that messages wait for those that start an instance together with them, after the latest one."""
QUANTUM_ROWS = 2_000
"""Variables that the receivers of one page of a signal get together."""
STAGE_VALUES = 200_000
"""Lists, contexts and fractions, with the values beside them, that one stage may encode as JSON. An unchanged large
variable in canonical JSON does not count, because its text is reused."""
LARGE_JSON = 50_000
"""Characters of a variable from which on decoding checks whether its JSON is canonical."""
VERY_LARGE_JSON = 250_000
"""A longer variable is decoded before the command runs: the shell does it in a thread."""
CHARACTERS_PER_STEP = 8
"""Characters of JSON, decoded or encoded for expressions, that count as one step."""
BATCH_CHARACTERS = 2_000_000
"""A batch takes no further command after it has written this many characters."""
BATCH_ROWS = 10_000
"""A batch takes no further command after it has changed this many rows."""
HELD_AT_ONCE = 2_000
"""Held commands that one command releases after slots have moved."""
FOLLOW_UP_ROUNDS = 4
"""The number of times that a batch loads needs of its follow-ups. The rest is deferred to the inbox."""

TIMER_RULES = TimerRules()
"""The defaults."""
