"""The parts of a log line: time, level, event, logger, the ids of request and trace, the position, and its own fields.

What it never has: control characters, which could make two lines of one, and passwords, tokens and the texts of errors
that may quote data. Call sites pass harmless fields (`tests/vivero/logs/test_log_calls.py`); this is the second wall.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from types import TracebackType
from typing import Any

import structlog

from vivero.engine.tracing.current import POSITION, REQUEST_ID, trace_id
from vivero.storage.postgres.errors import describe

Event = dict[str, Any]
Renderer = Callable[[Event], str]
Processors = Sequence[structlog.typing.Processor]

MAX_TEXT = 1_000
"""Characters of a field."""
MAX_FRAMES = 25
MAX_ITEMS = 20

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SECRETS = re.compile(
    r"(?P<dsn>[a-z][a-z0-9+.-]*://)[^\s/@]*@"
    r"|(?P<key>\b(?:password|passwd|secret|token|authorization|api[_-]?key)['\"]?\s*[=:]\s*)(?:'[^']*'|\"[^\"]*\"|[^\s,;&]+)"
    r"|(?P<scheme>\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}"
    r"|(?P<own>\bvivero_)[\w-]{20,}"
    r"|\beyJ[\w-]+\.[\w-]+\.[\w-]*",
    re.IGNORECASE,
)
MASK = "***"


def processors(always: Mapping[str, str], exception_texts: bool, render: Renderer) -> Processors:
    """The steps from an event to a line. None of them raises: a line that cannot be made says so."""

    def make(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
        try:
            return render(_complete(logger.name, method, dict(event), always, exception_texts))
        except Exception as error:
            lost: Event = {"event": "a log line could not be made", "of": str(event.get("event", ""))[:MAX_TEXT]}
            return render(_complete(logger.name, "error", lost | {"error": type(error).__name__}, always, False))

    return [make]


def of_lost(count: int, always: Mapping[str, str]) -> Event:
    """The event of lines that were not written."""
    event: Event = {"event": "log lines were lost, because nothing took them in time", "lines": count}
    return _complete(__name__, "warning", event, always, False)


def renderer(as_json: bool, terminal: bool) -> Renderer:
    """The step from a complete event to text."""
    render: Any
    if as_json:
        render = structlog.processors.JSONRenderer(default=str, ensure_ascii=False)
    else:
        render = structlog.dev.ConsoleRenderer(colors=terminal, sort_keys=False)

    def rendered(event: Event) -> str:
        text = render(None, "", event)
        return text if isinstance(text, str) else str(text)

    return rendered


_stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)


def _complete(name: str, method: str, event: Event, always: Mapping[str, str], exception_texts: bool) -> Event:
    handled = event.pop("exc_info", None)
    fields: Event = dict(_stamp(None, method, {}))
    fields |= {"level": method, "logger": name, "event": ""}
    fields |= {key: _harmless(value) for key, value in event.items()}
    fields |= always
    for key, value in (("request_id", REQUEST_ID.get()), ("trace_id", trace_id())):
        if value is not None:
            fields.setdefault(key, value)
    position = POSITION.get()
    if position is not None:
        fields.setdefault("position", position)
    if handled:
        fields |= _exception(handled, exception_texts)
    return fields


def _harmless(value: object) -> Any:
    """A value that fits into a line."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaseException):
        return clean(describe(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(_harmless(one)) for one in list(value)[:MAX_ITEMS])
    return clean(str(value))


def clean(text: str) -> str:
    """One line of bounded length without what looks like a secret."""
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    return _CONTROL.sub(_escaped, _SECRETS.sub(_masked, text))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _masked(found: re.Match[str]) -> str:
    kept = next((text for text in found.groups() if text is not None), "")
    return f"{kept}{MASK}" + "@" * (found["dsn"] is not None)


def _exception(handled: object, texts: bool) -> dict[str, str]:
    """The kind of an exception, its text as far as it is ours, and the places it came through."""
    error = handled if isinstance(handled, BaseException) else sys.exc_info()[1]
    if isinstance(handled, tuple):
        error = next((one for one in handled if isinstance(one, BaseException)), None)
    if error is None:
        return {}
    text = "; ".join(f"{type(one).__name__}: {one}" for one in _leaves(error)) if texts else describe(error)
    return {"raised": clean(text), "at": _places(next(_leaves(error)))}


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _places(error: BaseException) -> str:
    """The innermost place first, then those that called it. No source lines, no values."""
    return " < ".join(reversed(_frames(error.__traceback__)))


def _frames(tb: TracebackType | None) -> list[str]:
    walked = list(traceback.walk_tb(tb))[-MAX_FRAMES:]
    places = ((frame.f_code, line) for frame, line in walked)
    return [f"{'/'.join(code.co_filename.split('/')[-2:])}:{line} {code.co_name}" for code, line in places]
