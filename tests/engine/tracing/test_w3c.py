"""Contexts in headers and tables: what is valid is kept, and what is not is ignored, never an error."""

from __future__ import annotations

import pytest

from vivero.engine.tracing import w3c
from vivero.engine.tracing.current import CURRENT, trace_id
from vivero.engine.tracing.w3c import TraceContext

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in pairs]


def test_a_context_comes_back_as_it_went():
    context = w3c.from_headers(headers(("traceparent", PARENT), ("tracestate", "rojo=00f067aa0ba902b7,congo=t61 rc")))
    assert context == TraceContext(TRACE, SPAN, True, "rojo=00f067aa0ba902b7,congo=t61 rc")
    assert w3c.from_text(context.text) == context
    assert context.headers == {"traceparent": PARENT, "tracestate": "rojo=00f067aa0ba902b7,congo=t61 rc"}
    assert w3c.from_text(PARENT) == TraceContext(TRACE, SPAN)
    assert TraceContext(TRACE, SPAN).headers == {"traceparent": PARENT}
    assert context.child("1" * 16) == TraceContext(TRACE, "1" * 16, True, context.state)


@pytest.mark.parametrize(("flags", "sampled"), [("00", False), ("01", True), ("02", False), ("03", True), ("ff", True)])
def test_one_bit_says_whether_it_is_sampled(flags, sampled):
    context = w3c.parse(f"00-{TRACE}-{SPAN}-{flags}")
    assert context == TraceContext(TRACE, SPAN, sampled)
    assert context.traceparent == f"00-{TRACE}-{SPAN}-{'01' if sampled else '00'}"


@pytest.mark.parametrize("value", [f"01-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like"])
def test_a_later_version_is_read_as_far_as_it_is_known(value):
    assert w3c.parse(value) == TraceContext(TRACE, SPAN)


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", PARENT.upper(), PARENT + "-", PARENT + "-00", PARENT + " ", " " + PARENT[1:], PARENT + "\n"),
        *(f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE}-{SPAN}-1"),
        *(f"00-{TRACE}-{SPAN}", f"00-{TRACE}-{SPAN}-0g", f"01-{TRACE}-{SPAN}-01.", f"00_{TRACE}_{SPAN}_01", "00-" * 99),
    ],
)
def test_a_wrong_traceparent_is_none(value):
    assert w3c.parse(value, "a=1") is None


def test_a_request_has_one_traceparent_or_none():
    assert w3c.from_headers(headers(("accept", "*/*"))) is None
    assert w3c.from_headers(headers(("traceparent", PARENT), ("traceparent", PARENT))) is None
    assert w3c.from_headers(headers(("tracestate", "a=1"))) is None
    assert w3c.from_headers(headers(("traceparent", f"\t{PARENT} "))) == TraceContext(TRACE, SPAN)
    assert w3c.from_headers([(b"traceparent", b"\xff\xfe")]) is None


def test_several_tracestates_are_one():
    context = w3c.from_headers(headers(("tracestate", "a=1,"), ("traceparent", PARENT), ("tracestate", " b=2 , c@d=3")))
    assert context is not None
    assert context.state == "a=1,b=2,c@d=3"


@pytest.mark.parametrize(
    "state",
    [
        *("a", "a=", "A=1", "=1", "a=1,a=2", "a=1;b=2=3", "a=ä", "a=1\r\nx: y", "a=1,b=\x00", "a" * 257 + "=1"),
        *("@a=2", "a@B=1", "a=" + "x" * 257, ",".join(f"k{n}=1" for n in range(33))),
    ],
)
def test_a_wrong_tracestate_costs_only_itself(state):
    assert w3c.parse(PARENT, state) == TraceContext(TRACE, SPAN)


def test_a_long_tracestate_loses_long_members_and_then_the_last():
    members = [f"long={'x' * 200}", *(f"k{n}={'y' * 60}" for n in range(12))]
    context = w3c.parse(PARENT, ",".join(members))
    assert context is not None
    kept = context.state.split(",")
    assert kept == members[1 : 1 + len(kept)]
    assert len(context.state) <= w3c.MAX_STATE < len(context.state) + 1 + len(members[-1])


def test_the_current_trace_is_the_sampled_one():
    assert trace_id() is None
    for context, shown in ((TraceContext(TRACE, SPAN), TRACE), (TraceContext(TRACE, SPAN, sampled=False), None)):
        token = CURRENT.set(context)
        assert trace_id() == shown
        CURRENT.reset(token)
    assert trace_id() is None
