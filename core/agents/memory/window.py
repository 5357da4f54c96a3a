"""The window of a conversation: the newest messages, which the model sees, behind the system message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from vivero.core.agents.memory.context import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallResultMessage,
    UserMessage,
)


def window(messages: Sequence[Message], size: int) -> list[Message]:
    """The system message and the newest `size` others.

    A message with tool calls, the message of their results and that of the results' documents, which is not counted,
    stay or leave together. The newest of these groups stays
    also if it is larger than the window.
    """
    system = [message for message in messages if isinstance(message, SystemMessage)]
    others = [message for message in messages if not isinstance(message, SystemMessage)]
    kept: list[Message] = []
    left = size
    for group in reversed(list(_groups(others))):
        left -= sum(not _has_documents(message) for message in group)
        if kept and left < 0:
            break
        kept = [*group, *kept]
    return [*system, *kept]


def _groups(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages that stay together."""
    begins = [
        number
        for number, message in enumerate(messages)
        if not (number and isinstance(message, ToolCallResultMessage) and _calls(messages[number - 1]))
        and not (number and _has_documents(message))
    ]
    for begin, end in pairwise((*begins, len(messages))):
        group = list(messages[begin:end])
        if not isinstance(group[0], ToolCallResultMessage):  # results without their calls mean nothing to a model
            yield group


def _has_documents(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.has_documents_of_tools


def _calls(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.tool_calls)
