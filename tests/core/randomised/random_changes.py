"""Changes of whatever runs, between two quanta of a random run: most of them are possible, some are not."""

from typing import Any

from vivero.core.records.base import Command
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.timers import FireTimer
from vivero.core.state.instance_tree import Instance

LATE = 0.2
"""The chance that a worker or a timer comes for something that a change may have ended."""


class Changing:
    """Changes an instance between two quanta, sometimes. `counts`: accepted, and reasons of refusals.

    `command_of(random, instance, engine)` makes the change, or None; `events` are the types of the events of changes.
    """

    def __init__(self, random, counts, command_of, *events, often=0.2) -> None:
        self.random, self.counts, self.often = random, counts, often
        self.command_of, self.events = command_of, events
        self.sent: Any = None
        self.known: list[Command] = []

    def between(self, engine):
        state, random = engine.state, self.random
        if self.sent is not None:
            self._note(engine)
        instances = [one for one in state.elements.values() if isinstance(one, Instance)]
        self.known += [*(CompleteJob(job) for job in state.jobs), *(FireTimer(timer) for timer in state.timers)]
        del self.known[:-20]
        if self.sent is not None or not instances or random.random() > self.often:
            return ()
        self.sent = self.command_of(random, random.choice(instances), engine)
        if self.sent is None:
            return ()
        late = [random.choice(self.known)] if self.known and random.random() < LATE else []
        return (*late, self.sent)

    def _note(self, engine):
        """Count what became of the change that was sent. One that waits for deferred work is sent again."""
        logged = engine.memory.log[-1]
        if not isinstance(logged.command, type(self.sent)):
            return
        attempt = logged.command.attempt
        handled = logged.handled[0]
        if handled.rejection is not None:
            assert handled.events == [], "a refused change changes nothing"
            self.counts[reason_of(handled.rejection)] += 1
        elif any(isinstance(event, self.events) for event in handled.events):
            self.counts["accepted later" if attempt else "accepted"] += 1
        elif handled.answered:
            self.counts["no change"] += 1
        else:
            self.counts["put off"] += 1
            return
        self.sent = None


def accepted(counts):
    """The number of changes that were possible, at once or after deferred work."""
    return counts["accepted"] + counts["accepted later"]


def reason_of(rejection):
    text = rejection.reason.partition(" but ")[2] or rejection.reason
    return "".join(part for number, part in enumerate(text.split("'")) if number % 2 == 0)[:110]
