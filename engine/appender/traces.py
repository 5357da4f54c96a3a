"""The span of an append: from the hand-over of a command to its position. The log row has its context."""

from __future__ import annotations

import trio

from vivero.engine.appender.calls import Append, PendingCommand, pending_command
from vivero.engine.outcomes.admission import NotAppended
from vivero.engine.outcomes.replies import Reply
from vivero.engine.tracing.current import CURRENT
from vivero.engine.tracing.names import ERROR_TYPE, of_log, position
from vivero.engine.tracing.tracer import Begun, SpanRole, Tracer
from vivero.storage.log.command_log import Appended


class AppendSpan:
    """The span of one command that is appended."""

    __slots__ = ("_begun", "_ended", "_intent", "_partition", "_tracer")

    def __init__(self, tracer: Tracer, begun: Begun, intent: str, partition: int) -> None:
        self._tracer, self._begun, self._intent, self._partition = tracer, begun, intent, partition
        self._ended = False

    @property
    def text(self) -> str:
        """The context for the log."""
        return self._begun.context.text

    def end(self, result: Appended | NotAppended) -> None:
        """The command has a position, or will not be appended. The first call counts."""
        if self._ended:
            return
        self._ended = True
        attributes = of_log("append", "send", self._intent, self._partition)
        error = None
        if isinstance(result, Appended):
            position(attributes, result.position)
        else:
            error = attributes[ERROR_TYPE] = type(result).__name__
        self._tracer.end(self._begun, f"append {self._intent}", SpanRole.PRODUCER, attributes, error=error)


def traced_command(
    tracer: Tracer | None, item: Append, replies: trio.MemorySendChannel[Reply], new: bool
) -> PendingCommand:
    """A command that the current task appends, with a span if its trace is sampled."""
    context = None if tracer is None else CURRENT.get()
    if tracer is None or context is None or not context.sampled:
        return pending_command(item, replies, new)
    span = AppendSpan(tracer, tracer.below(context), item.command.intent, item.partition)
    pending = pending_command(item, replies, new, span.text)
    pending.span = span
    return pending
