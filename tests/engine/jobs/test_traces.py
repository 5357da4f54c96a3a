"""The spans of background jobs: one trace from the request that added an execution over its attempts to its end."""

from types import SimpleNamespace

import msgspec
import pytest

from vivero.engine.jobs.span_names import COMPLETE, DISPATCH, EXECUTE, RETRY
from vivero.engine.jobs.traces import JobSpans, context_of, stored_form
from vivero.engine.tracing.current import CURRENT
from vivero.engine.tracing.tracer import SpanRole, Tracer
from vivero.engine.tracing.w3c import TraceContext

PARENT = TraceContext("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", True, "vendor=1")


def a_run(context, attempt=0):
    return SimpleNamespace(type="mail", id="e-1", attempt=attempt, trace_context=stored_form(context))


@pytest.fixture
def recorded():
    return []


@pytest.fixture
def spans(recorded):
    return JobSpans(Tracer(0.0, recorded.append))


def test_a_run_continues_the_trace_of_its_request(spans, recorded):
    run = a_run(PARENT)
    with spans(DISPATCH, run):
        with spans(EXECUTE, run):
            inner = CURRENT.get()
        with spans(COMPLETE, run):
            pass
    execute, complete, dispatch = recorded
    assert [one.name for one in recorded] == [EXECUTE, COMPLETE, DISPATCH]
    assert (dispatch.context.trace_id, dispatch.parent) == (PARENT.trace_id, PARENT.span_id)
    assert {execute.parent, complete.parent} == {dispatch.context.span_id}
    assert inner == execute.context
    assert CURRENT.get() is None
    assert (dispatch.kind, execute.kind) == (SpanRole.CONSUMER, SpanRole.INTERNAL)
    job = "vivero.background_job"
    assert dispatch.attributes == {f"{job}.type": "mail", f"{job}.id": "e-1", f"{job}.attempt": 0}


def test_a_part_that_raises_is_an_error_without_its_text(spans, recorded):
    run = a_run(PARENT, attempt=1)
    with spans(DISPATCH, run):
        with pytest.raises(ValueError, match="secret"), spans(EXECUTE, run):
            raise ValueError("secret")
        with spans(RETRY, run):
            pass
    assert [(one.name, one.error) for one in recorded] == [(EXECUTE, "ValueError"), (RETRY, None), (DISPATCH, None)]
    assert "secret" not in str(recorded)


@pytest.mark.parametrize("context", [None, PARENT._replace(sampled=False)])
def test_what_is_not_sampled_leaves_no_spans(spans, recorded, context):
    run = a_run(context)
    with spans(DISPATCH, run), spans(EXECUTE, run):
        assert CURRENT.get() is None
    assert recorded == []


def test_what_nobody_asked_for_is_sampled_by_the_ratio(recorded):
    with JobSpans(Tracer(1.0, recorded.append))(DISPATCH, a_run(None)):
        pass
    assert [one.parent for one in recorded] == [""]


@pytest.mark.parametrize("stored", [None, "{}", '{"traceparent": 7}', '{"traceparent": "00-x"}'])
def test_a_wrong_context_is_none(stored):
    assert context_of(stored) is None


def test_a_context_is_stored_as_headers():
    assert context_of(stored_form(PARENT)) == PARENT
    assert msgspec.json.decode(stored_form(PARENT) or "") == PARENT.headers
