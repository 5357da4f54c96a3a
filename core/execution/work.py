"""The work of one command that has yet to be done, and its results so far."""

from __future__ import annotations

from collections import deque
from typing import Any

from vivero.core.execution.outcomes import Ended
from vivero.core.execution.settle_queue import SettleQueue
from vivero.core.records.base import Event
from vivero.core.records.effects import Reply, Send
from vivero.core.shared.ending import Ending
from vivero.core.state.state import State
from vivero.core.view import View


class Work:
    """The queues and the results of a command. `worklist` runs it; `consequences` adds to it."""

    def __init__(self, state: State, view: View) -> None:
        self.state = state
        self.view = view
        self.budget = view.budget
        self.queue: deque[tuple[int, str, Any]] = deque()
        """Items `(element key, stage, argument)`."""
        self.settle_queue = SettleQueue()
        self.settling = self.settle_queue.new
        """Scopes that have yet to settle are added here."""
        self.unloaded: dict[int, None] = {}
        """Bodies of paged loops that continue when more of them has been loaded."""
        self.suspended: list[tuple[int, str, Any]] = []
        """Items of suspended process instances, in their order."""
        self.ending = Ending()
        self.events: list[Event] = []
        self.replies: list[Reply] = []
        self.later = False
        """Whether a later command answers this one."""
        self.sends: list[Send] = []
        self.ended: list[Ended] = []
        self.available: list[tuple[str, str]] = []
        """(type, tenant) of jobs that became available."""
        self.timers: dict[int, tuple[int, str] | None] = {}
        """Changed timers (`Notices.timers`)."""
        self.jobs: list[tuple[str, str]] = []
        """(event, type) of jobs to which something happened."""
        self.incidents: list[tuple[str, str]] = []
        self.held = False
        """Whether the command has begun an operation in pages."""

    def begin(self) -> None:
        """Forget the last command. Its queues are empty: all its work is done, deferred, or undone."""
        if self.budget.spent:
            self.budget.begin_stage()
        if self.ending.known:
            self.ending.forget()
        self.events = []
        self.replies = []
        self.sends = []
        self.later = False
        self.ended = []
        self.available = []
        self.timers = {}
        self.jobs = []
        self.incidents = []
        self.held = False

    def clear_queues(self) -> None:
        self.queue.clear()
        self.settle_queue.clear()
        self.unloaded.clear()

    def drop(self) -> None:
        """Drop the work of a command that is undone, or does not run."""
        self.clear_queues()
        self.suspended = []
