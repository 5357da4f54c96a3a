"""The spans of a batch (docs/observability.md): each sampled command has one, and the commit below it.

A command belongs to the trace of the job or the instance that it continues, and otherwise to that of its sender. If
both are sampled and differ, it belongs to the first, and names the second in a link. Spans are recorded after the
commit: a batch that is computed again leaves none of the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import time_ns

import msgspec

from vivero.core.execution.outcomes import Handled
from vivero.core.records.base import Command
from vivero.core.records.effects import RejectionCode
from vivero.core.state.instance_tree import Job
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.engine.tracing import w3c
from vivero.engine.tracing.names import ERROR_TYPE, INSTANCE, REJECTION, of_log, position
from vivero.engine.tracing.tracer import Begun, SpanRole, Tracer
from vivero.engine.tracing.w3c import TraceContext

_TRACE_ID = len("00-"), len("00-") + 32
"""From where to where the text of a context has the id of its trace."""
MAX_LINKS = 128
"""Links of the span of a batch. OpenTelemetry keeps no more by default."""


class HandledCommand(msgspec.Struct, gc=False):
    """A sampled command, while its batch is not committed."""

    begun: Begun
    intent: str
    position: int
    links: tuple[TraceContext, ...]
    end_ns: int = 0
    root: int | None = None
    rejection: RejectionCode | None = None


class BatchTraces:
    """The contexts of one term's commands (`outcomes.Contexts`)."""

    def __init__(self, tracer: Tracer, state: State, partition: int) -> None:
        self._tracer, self._state, self._partition = tracer, state, partition
        self._handled: list[HandledCommand] = []
        self._under_way: HandledCommand | None = None

    # -- for the core

    def begin(self, command: Command, given: str | None) -> str | None:
        """The context of the span of a command; None: it is not sampled."""
        home, decides = self._home(command)
        parent = home or given
        if parent is None:
            begun = self._tracer.root() if decides else None
            return None if begun is None else self._begin(command, begun, ())
        links: tuple[TraceContext, ...] = ()
        if home is not None and given is not None:
            if _trace_of(home) == _trace_of(given):
                parent = given
            elif (sender := w3c.from_text(given)) is not None:
                links = (sender,)
        context = w3c.from_text(parent)
        return None if context is None else self._begin(command, self._tracer.below(context), links)

    def end(self, handled: Handled) -> None:
        one, self._under_way = self._under_way, None
        if one is not None:
            one.end_ns, one.root = time_ns(), handled.root
            one.rejection = None if handled.rejection is None else handled.rejection.code
            self._handled.append(one)

    def cancel(self) -> None:
        self._under_way = None

    def _begin(self, command: Command, begun: Begun, links: tuple[TraceContext, ...]) -> str:
        self._under_way = HandledCommand(begun, command.intent, self._state.position, links)
        return begun.context.text

    def _home(self, command: Command) -> tuple[str | None, bool]:
        """The context of what the command continues, and whether a trace may begin with it: a timer starts it."""
        row = self._row(getattr(command, "key", None))
        if row is None:
            return None, False
        if type(row) is Job and row.context is not None:
            return row.context, False
        element = row.place()
        return (None, True) if element is None else (element.tree.context, False)

    def _row(self, key: int | None) -> Row | None:
        state = self._state
        if key is None:
            return None
        return (
            state.jobs.get(key)
            or state.elements.get(key)
            or state.timers.get(key)
            or state.subscriptions.get(key)
            or state.user_tasks.get(key)
            or state.incidents.get(key)
        )

    # -- for the term

    def take(self) -> list[HandledCommand]:
        """The commands that were handled since the last call, for one batch."""
        handled, self._handled = self._handled, []
        return handled

    def committed(self, handled: Sequence[HandledCommand], commands: int, started_ns: int) -> None:
        """Record the spans of a batch, whose commit began at `started_ns` and ends now."""
        ended_ns, tracer = time_ns(), self._tracer
        alone = tracer.alone()
        batch = Begun(alone.context, "", handled[0].begun.start_ns)
        linked: set[tuple[int, str]] = set()
        for one in handled:
            self._record(one, batch.context)
            context = one.begun.context
            if (one.position, context.trace_id) not in linked:
                linked.add((one.position, context.trace_id))
                below = tracer.below(context)
                tracer.end(Begun(below.context, below.parent, started_ns), "commit", end_ns=ended_ns)
        attributes = of_log("process", "process", "batch", self._partition)
        attributes["messaging.batch.message_count"] = commands
        links = tuple(one.begun.context for one in handled[:MAX_LINKS])
        tracer.end(batch, "process batch", SpanRole.CONSUMER, attributes, links, end_ns=ended_ns)

    def _record(self, one: HandledCommand, batch: TraceContext) -> None:
        attributes = of_log("process", "process", one.intent, self._partition)
        position(attributes, one.position)
        if one.root is not None:
            attributes[INSTANCE] = str(one.root)
        error = None
        if one.rejection is not None:
            attributes[REJECTION] = one.rejection.value
            if one.rejection is RejectionCode.PROCESSING_ERROR:
                error = attributes[ERROR_TYPE] = one.rejection.value
        links = (*one.links, batch)
        self._tracer.end(one.begun, f"process {one.intent}", SpanRole.CONSUMER, attributes, links, error, one.end_ns)


def _trace_of(text: str) -> str:
    begin, end = _TRACE_ID
    return text[begin:end]
