"""To which trace a command belongs, and what goes on with what follows from it. Without a database."""

import pytest

from benchmarks.model import CREATE, ONE_TASK
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.memory import MemoryEngine
from vivero.core.records.jobs import CompleteJob
from vivero.engine.consumer.traces import BatchTraces
from vivero.engine.tracing.tracer import Tracer
from vivero.engine.tracing.w3c import TraceContext, from_text

OURS = TraceContext("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", True, "vendor=1")
OTHER = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
POSITION = (1 << 51) + 1_000


class Traced:
    """An engine in memory whose commands come with contexts."""

    def __init__(self, ratio=0.0) -> None:
        self.recorded = []
        self.memory = MemoryEngine()
        self.memory.deploy(ONE_TASK)
        self.traces = BatchTraces(Tracer(ratio, self.recorded.append), self.memory.state, 1)
        self.memory.processor.contexts = self.traces
        self._position = POSITION

    def run(self, command, context=None):
        """Run a command, and give its spans."""
        self._position += 1
        text = None if context is None else context.text
        self.memory.processor.process(CommandRecord(self._position, "<default>", command, None, text), 0)
        self.recorded.clear()
        if handled := self.traces.take():
            self.traces.committed(handled, 1, 0)
        return {span.name: span for span in self.recorded}

    @property
    def job(self):
        (job,) = self.memory.state.jobs.values()
        return job


@pytest.fixture
def traced():
    return Traced()


PROCESS_CREATE, PROCESS_COMPLETE = "process PROCESS_INSTANCE_CREATION:CREATE", "process JOB:COMPLETE"


def test_instance_and_job_keep_the_context_of_their_command(traced):
    spans = traced.run(CREATE, OURS)
    created = spans[PROCESS_CREATE]
    assert (created.context.trace_id, created.parent) == (OURS.trace_id, OURS.span_id)
    assert created.context.state == "vendor=1"
    assert {traced.job.context, traced.job.element.tree.context} == {created.context.text}
    assert spans["commit"].parent == created.context.span_id
    assert spans["process batch"].context.trace_id != OURS.trace_id
    assert spans["process batch"].links == (created.context,)
    assert created.links == (spans["process batch"].context,)


def test_what_is_not_sampled_leaves_nothing(traced):
    assert traced.run(CREATE) == {}
    assert (traced.job.context, traced.job.element.tree.context) == (None, None)
    assert traced.run(CompleteJob(traced.job.key)) == {}


def test_a_worker_without_a_trace_continues_that_of_the_job(traced):
    created = traced.run(CREATE, OURS)[PROCESS_CREATE]
    completed = traced.run(CompleteJob(traced.job.key))[PROCESS_COMPLETE]
    assert (completed.context.trace_id, completed.parent) == (OURS.trace_id, created.context.span_id)


def test_a_worker_in_the_same_trace_is_the_parent(traced):
    traced.run(CREATE, OURS)
    worker = OURS.child("c" * 16)
    completed = traced.run(CompleteJob(traced.job.key), worker)[PROCESS_COMPLETE]
    assert completed.parent == worker.span_id


def test_a_worker_in_another_trace_is_linked(traced):
    created = traced.run(CREATE, OURS)[PROCESS_CREATE]
    completed = traced.run(CompleteJob(traced.job.key), OTHER)[PROCESS_COMPLETE]
    assert (completed.context.trace_id, completed.parent) == (OURS.trace_id, created.context.span_id)
    assert completed.links[0] == OTHER


def test_a_sampled_command_to_an_instance_that_is_not_is_traced(traced):
    traced.run(CREATE)
    completed = traced.run(CompleteJob(traced.job.key), OTHER)[PROCESS_COMPLETE]
    assert (completed.context.trace_id, completed.parent) == (OTHER.trace_id, OTHER.span_id)


def test_only_a_timer_begins_a_trace_in_the_engine():
    """The other commands have a sender, which has decided."""
    assert Traced(ratio=1.0).run(CREATE) == {}


def test_a_rejection_is_told(traced):
    traced.run(CREATE, OURS)
    rejected = traced.run(CompleteJob(traced.job.key + 10_000), OTHER)[PROCESS_COMPLETE]
    assert rejected.attributes["vivero.command.rejection"] == "NOT_FOUND"
    assert rejected.error is None, "it is the sender's fault"


def test_a_command_that_is_handled_again_has_one_span(traced):
    traced.traces.begin(CREATE, OURS.text)
    traced.traces.cancel()
    assert list(traced.run(CREATE, OURS)) == [PROCESS_CREATE, "commit", "process batch"]


def test_follow_ups_through_the_log_take_the_context_along(traced):
    traced.memory.processor.set_inline(False)
    message = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
        xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><message id="m" name="m"><extensionElements>
        <zeebe:subscription correlationKey="=1"/></extensionElements></message>
        <process id="waits" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="c"/>
        <intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
        </process></definitions>""".replace("=1", '="1"'.replace('"', "&quot;"))
    traced.memory.deploy(message.encode())
    traced.run(type(CREATE)(process_id="waits"), OURS)
    (sent,) = traced.memory.processor.notices.to_inbox
    context = from_text(sent.context)
    assert context is not None
    assert context.trace_id == OURS.trace_id
