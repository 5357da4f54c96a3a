"""Texts about failures: an exception with the last lines of its traceback, and the place where a function hangs."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

MAX_MESSAGE = 4000
"""Characters of an error message; the rest is not sent."""
MAX_FRAMES = 50
"""Frames of a traceback, the innermost ones."""
_OURS = str(Path(__file__).parent)


def sendable(message: str) -> str:
    """The message without signs that UTF-8 cannot express, and not too long."""
    return message[:MAX_MESSAGE].encode(errors="replace").decode()


def described(error: BaseException) -> str:
    """The type and the text of an exception; of a group, those of its first one."""
    error = first_of(error)
    try:
        text = str(error)
    except Exception as second:  # the class is the user's
        text = f"its text cannot be made: {type(second).__name__}"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_of(error: BaseException) -> BaseException:
    """The exception itself, or the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def with_traceback(error: BaseException) -> str:
    """The description of an exception, and the last lines of the traceback through the user's code."""
    return _joined(described(error), traceback.walk_tb(_of_user(first_of(error).__traceback__)))


def hanging(about: str, frames: Iterable[FrameType]) -> str:
    """A description, and the frames in which a function hangs, the outermost first."""
    users = list(frames)
    while users and _is_ours(users[0]):
        users.pop(0)
    return _joined(about, ((frame, frame.f_lineno) for frame in users))


def frames_of_coroutine(coroutine: Any) -> Iterator[FrameType]:
    """The frames of a suspended coroutine and of all that it awaits, the outermost first."""
    while coroutine is not None:
        for kind, awaited in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            frame = getattr(coroutine, f"{kind}_frame", None)
            if frame is not None:
                yield frame
                coroutine = getattr(coroutine, awaited)
                break
        else:
            return


def frames_of_thread(ident: int) -> list[FrameType]:
    """The frames of a thread, the outermost first; none if it has ended."""
    found = sys._current_frames().get(ident)
    return [frame for frame, _ in traceback.walk_stack(found)][::-1] if found is not None else []


def _of_user(found: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is not the worker's; all of it if there is none."""
    at = found
    while at is not None and _is_ours(at.tb_frame):
        at = at.tb_next
    return at or found


def _is_ours(frame: FrameType) -> bool:
    """Whether the frame calls the user's function: the worker's own, or those of the thread in which it runs."""
    name = frame.f_code.co_filename
    if name.startswith(_OURS):
        return True
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("threading", "trio", "outcome")


def _joined(about: str, frames: Iterable[tuple[FrameType, int]]) -> str:
    """The description, and as many last lines of the traceback as fit behind it."""
    listed = traceback.StackSummary.extract(iter(list(frames)[-MAX_FRAMES:])).format()
    left = MAX_MESSAGE - len(about)
    kept: list[str] = []
    for text in reversed(listed):
        left -= len(text) + 1
        if left < 0:
            break
        kept.insert(0, text.rstrip("\n"))
    return "\n".join([about, *kept])
