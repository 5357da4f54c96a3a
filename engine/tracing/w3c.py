"""Trace contexts as the W3C recommendation writes them: the headers `traceparent` and `tracestate`.

In tables a sampled context is one text: its `traceparent`, and behind a space its `tracestate` if it has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
_PARENT, _STATE = TRACEPARENT.encode(), TRACESTATE.encode()

_VERSION_0 = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_LATER_VERSION = re.compile(r"(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_KEY = r"[a-z0-9][a-z0-9_\-*/@]{0,255}"
_MEMBER = re.compile(rf"({_KEY})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
MAX_MEMBERS = 32
MAX_STATE = 512
"""Characters of a `tracestate`. Members beyond it are left out, long ones first, as the recommendation asks."""
LONG_MEMBER = 128


class TraceContext(NamedTuple):
    """A span, as its children see it. Both ids are lower-case hexadecimal digits."""

    trace_id: str
    span_id: str
    sampled: bool = True
    state: str = ""
    """The `tracestate`, which other systems wrote. It is only passed on."""

    @property
    def traceparent(self) -> str:
        """The value of the header."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"

    @property
    def text(self) -> str:
        """The form for tables."""
        return f"{self.traceparent} {self.state}" if self.state else self.traceparent

    @property
    def headers(self) -> dict[str, str]:
        """The headers for outgoing calls."""
        return {TRACEPARENT: self.traceparent} | ({TRACESTATE: self.state} if self.state else {})

    def child(self, span_id: str) -> TraceContext:
        """The context of a span below this one."""
        return TraceContext(self.trace_id, span_id, self.sampled, self.state)


def parse(traceparent: str, tracestate: str = "") -> TraceContext | None:
    """The context that these headers give, None if `traceparent` is not valid. A wrong `tracestate` is left out."""
    match = _VERSION_0.fullmatch(traceparent) or _LATER_VERSION.fullmatch(traceparent)
    if match is None:
        return None
    trace_id, span_id, flags = match.groups()
    if trace_id == _NO_TRACE or span_id == _NO_SPAN:
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1), _state(tracestate) if tracestate else "")


def from_text(text: str) -> TraceContext | None:
    """The context that `TraceContext.text` wrote."""
    traceparent, _, state = text.partition(" ")
    return parse(traceparent, state)


def from_headers(headers: Iterable[tuple[bytes, bytes]]) -> TraceContext | None:
    """The context of a request, None if it has none that is valid. Names are in lower case."""
    parents, states = [], []
    for name, value in headers:
        if name == _PARENT:
            parents.append(value)
        elif name == _STATE:
            states.append(value)
    if len(parents) != 1:
        return None
    return parse(parents[0].decode("latin-1").strip(" \t"), b",".join(states).decode("latin-1"))


def _state(text: str) -> str:
    """The members, without spaces between them. Empty if one of them is wrong: then none can be trusted."""
    members = [member for part in text.split(",") if (member := part.strip(" \t"))]
    matches = [_MEMBER.fullmatch(member) for member in members]
    keys = {match[1] for match in matches if match is not None}
    if len(keys) != len(members) or len(members) > MAX_MEMBERS:
        return ""
    return ",".join(_shortened(members))


def _shortened(members: list[str]) -> list[str]:
    """As many of the members as may be kept: first those that are long go, then the last ones."""
    if len(",".join(members)) > MAX_STATE:
        members = [member for member in members if len(member) <= LONG_MEMBER]
    while len(",".join(members)) > MAX_STATE:
        members.pop()
    return members


def of_headers(headers: Mapping[str, Any]) -> TraceContext | None:
    """The context among headers whose values may be anything, None if there is none that is valid."""
    parent, state = headers.get(TRACEPARENT), headers.get(TRACESTATE)
    return parse(parent, state if isinstance(state, str) else "") if isinstance(parent, str) else None


def of_job(headers: Mapping[str, Any]) -> TraceContext | None:
    """The sampled context among the custom headers of a job, None if there is none."""
    context = of_headers(headers)
    return context if context is not None and context.sampled else None
