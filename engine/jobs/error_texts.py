"""The text of an error of a background job: the calls in the code of its author, then type and message."""

from __future__ import annotations

import traceback
from itertools import dropwhile
from types import FrameType

MAX_ERROR = 4000
"""Characters of an error that are kept. The message goes before the calls, and the last calls before the first."""
CALLER = "vivero.engine.jobs.handlers"
OURS = frozenset({"vivero", "trio", "trio_asyncio", "asyncio", "outcome", "contextlib"})
"""The module, and the packages behind it, that call the function of a job."""


def text_of(error: BaseException) -> str:
    """Calls and message, without characters that PostgreSQL cannot store. The last line begins with the type."""
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message, calls = message[:MAX_ERROR], _calls(error)
    free = MAX_ERROR - len(message)
    if len(calls) > free:
        calls = calls[len(calls) - free :].partition("\n")[2]
    return (calls + message).replace("\0", "\ufffd").encode(errors="replace").decode()


def place_of(error: BaseException) -> str | None:
    """The line of code that raised the error, in the last call that has one; None without any."""
    found = traceback.extract_tb(error.__traceback__)
    return f"{found[-1].filename}:{found[-1].lineno}" if found else None


def _calls(error: BaseException) -> str:
    """The calls from the function of the job to the line that raised."""
    found = list(traceback.walk_tb(error.__traceback__))
    caller = max((at for at, (frame, _) in enumerate(found) if _module(frame) == CALLER), default=-1)
    of_author = list(dropwhile(lambda each: _module(each[0]).partition(".")[0] in OURS, found[caller + 1 :]))
    return "".join(traceback.StackSummary.extract(iter(of_author)).format())


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))
