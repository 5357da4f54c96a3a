from pathlib import Path

import msgspec

from tests.core.engine import Engine
from tests.core.message_models import boundary, event_sub, model, throw
from tests.core.models import end, start, sub, task
from tests.core.randomised.random_model_checks import bounded
from vivero.core.memory import MemoryEngine
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.signals import BroadcastSignal

MODELS = Path(__file__).parents[2] / "models"


def test_one_task_runs_to_its_end():
    memory = MemoryEngine()
    memory.deploy((MODELS / "one_task.bpmn").read_bytes(), "one_task.bpmn")
    process_id = next(iter(memory.state.catalogue.families))[1]
    created = memory.run(CreateInstance(process_id, variables={"a": msgspec.Raw(b"1")}))
    assert created.rejection is None
    (job,) = memory.state.jobs
    done = memory.run(CompleteJob(job))
    assert done.rejection is None
    assert not memory.state.elements


def test_what_follows_without_end_goes_on_through_the_log():
    """Each turn lacks something: it waits for a message no longer when its channel is asked to note that it waits."""
    waits = sub("scope", start("in"), end("out"), "in > out")
    turn = (waits, boundary("scope", "heard"), throw("again"), "turn-start > scope > again")
    engine = Engine(keeps_rows=False)
    engine.deploy(
        model(start(), task("work"), "start > work", event_sub("turn", *turn, on="signal", interrupting=False))
    )
    engine.start(k="x")
    with bounded():
        engine.memory.handle(BroadcastSignal("alarm"), "<default>", None)
    commands = {type(to_inbox.command).__name__ for to_inbox in engine.memory.processor.notices.to_inbox}
    assert commands == {"OpenSubscription", "CloseSubscription", "BroadcastSignal"}
