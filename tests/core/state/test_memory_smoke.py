from pathlib import Path

import msgspec

from tests.core.bench import Bench
from tests.core.message_models import boundary, event_sub, model, throw
from tests.core.models import end, start, sub, task
from tests.core.randomised.random_model_checks import bounded
from vivero.core.memory import MemoryEngine
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.signals import BroadcastSignal

MODELS = Path(__file__).parents[2] / "models"


def test_one_task_runs_to_its_end():
    engine = MemoryEngine()
    engine.deploy((MODELS / "one_task.bpmn").read_bytes(), "one_task.bpmn")
    process_id = next(iter(engine.state.catalogue.families))[1]
    created = engine.run(CreateInstance(process_id, variables={"a": msgspec.Raw(b"1")}))
    assert created.rejection is None
    (job,) = engine.state.jobs
    done = engine.run(CompleteJob(job))
    assert done.rejection is None
    assert not engine.state.elements


def test_what_follows_without_end_goes_on_through_the_log():
    """Each turn lacks something: it waits for a message no longer when its channel is asked to note that it waits."""
    waits = sub("scope", start("in"), end("out"), "in > out")
    turn = (waits, boundary("scope", "heard"), throw("again"), "turn-start > scope > again")
    bench = Bench(keeps_rows=False)
    bench.deploy(
        model(start(), task("work"), "start > work", event_sub("turn", *turn, on="signal", interrupting=False))
    )
    bench.start(k="x")
    with bounded():
        bench.engine.handle(BroadcastSignal("alarm"), "<default>", None)
    commands = {type(to_inbox.command).__name__ for to_inbox in bench.engine.processor.notices.to_inbox}
    assert commands == {"OpenSubscription", "CloseSubscription", "BroadcastSignal"}
