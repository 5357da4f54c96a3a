"""The spans of appends: the log has their contexts, and each ends once, also if the command is not appended."""

import pytest

from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.tracing.current import CURRENT
from vivero.engine.tracing.tracer import SpanRole, Tracer
from vivero.engine.tracing.w3c import TraceContext, from_text

PARENT = TraceContext("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", True, "vendor=1")
SECONDS = 20.0


@pytest.fixture
def recorded():
    return []


@pytest.fixture
def current():
    token = CURRENT.set(PARENT)
    yield
    CURRENT.reset(token)


@pytest.fixture
async def appender(connect, nursery, recorded):
    made = Appender(connect, tracer=Tracer(0.0, recorded.append))
    nursery.start_soon(made.run, Beat(SupervisionSettings()))
    return made


async def traces(connection):
    return (await connection.execute("SELECT position, trace FROM command_log ORDER BY position")).rows


async def test_the_log_has_the_context_of_the_append(appender, recorded, connection, current):
    key = ("k", b"a" * 32)
    created = await appender.append(Append(CreateInstance(process_id="p"), "t", idempotency=key), deadline_s=SECONDS)
    again = await appender.append(Append(CreateInstance(process_id="p"), "t", idempotency=key), deadline_s=SECONDS)
    assert again.position == created.position
    ((position, text),) = await traces(connection)
    first, second = recorded
    assert from_text(text) == first.context
    assert {first.parent, second.parent} == {PARENT.span_id}
    assert (first.name, first.kind) == ("append PROCESS_INSTANCE_CREATION:CREATE", SpanRole.PRODUCER)
    assert {one.attributes["messaging.message.id"] for one in recorded} == {str(position)}


async def test_without_a_sampled_context_there_is_no_span(appender, recorded, connection):
    for context in (None, PARENT._replace(sampled=False)):
        token = CURRENT.set(context)
        await appender.append(Append(CompleteJob(7), "t", 7), deadline_s=SECONDS)
        CURRENT.reset(token)
    assert [text for _, text in await traces(connection)] == [None, None]
    assert recorded == []


async def test_a_command_that_is_given_up_has_a_span_with_the_reason(connect, recorded, current):
    appender = Appender(connect, AppenderSettings(), tracer=Tracer(0.0, recorded.append))  # nobody runs it
    with pytest.raises(Overloaded):
        await appender.append(Append(CompleteJob(7), "t", 7), deadline_s=0.0)
    assert [(one.name, one.error) for one in recorded] == [("append JOB:COMPLETE", "Overloaded")]
