"""Limits and counters of a consumer of the log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from vivero.core.rules import STAGE_STEPS, TREE_RULES
from vivero.engine.counters.buckets import COUNTS, Buckets
from vivero.engine.counters.counts_by_type import CountsByType
from vivero.engine.counters.recent import Recent


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Limits of a batch and of the memory of a term. Seconds and bytes."""

    batch_commands: int = 500
    """Commands in a batch."""
    cache_bytes: int = 48_000_000
    """Running instances of each partition in memory (an estimate)."""
    max_definitions: int = 20_000
    """Definitions in memory."""
    poll_s: float = 1.0
    """Interval in which the log is read without a wake-up."""
    call_timeout_s: float = 5.0
    """Deadline of a read or commit."""
    quantum_items: int = 500
    """Work items of one command before others get their turn."""
    paged_from: int = TREE_RULES.paged_from
    """A loop is loaded in pages when its items and the live elements that are loaded with it are more than this."""
    max_part_rows: int = TREE_RULES.max_part_rows
    """Live elements and process instances that are loaded at once: a tree without the inner instances of its paged
    loops, or such an inner instance with all around it. Beyond it calls and loops get an incident; beyond twice as many
    everything else.
    """
    max_tree_rows: int = TREE_RULES.max_tree_rows
    """The same of a process instance with all that it calls."""
    stage_steps: int = STAGE_STEPS
    """Steps that all expressions of one stage of an element may take, for example all its input mappings. Beyond it an
    incident.
    """


@dataclass(slots=True)
class ConsumerStats:
    """Counters for metrics and tests; they only grow, except `recent`."""

    terms: int = 0
    reads: int = 0
    """Reads of the log. Most commands of this node are handed over in memory instead."""
    batches: int = 0
    quanta: int = 0
    """Batches without commands, which do deferred work between commands."""
    commands: int = 0
    recent: Recent = field(default_factory=Recent)
    """Commands of the last seconds, for people."""
    statements: int = 0
    not_loaded: int = 0
    evicted: int = 0
    found: int = 0
    """Rows of instances that commands needed and that were in memory."""
    looked_up: int = 0
    """Those that the database was asked for."""
    poisoned: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Commands by intent and outcome: accepted, rejected, or forwarded to another partition."""
    ended: Counter[str] = field(default_factory=Counter)
    """Ended process instances by state, without called ones."""
    jobs: CountsByType = field(default_factory=CountsByType)
    """Counts of events of jobs; the consumers of a node share them."""
    incidents: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Incidents by event (raised, resolved) and type."""
    batch_size: Buckets = field(default_factory=lambda: Buckets(COUNTS))
    """Commands of a batch."""
    compute_s: Buckets = field(default_factory=Buckets)
    """From the read commands of a batch to its statements, loading included."""
    commit_s: Buckets = field(default_factory=Buckets)
