from pathlib import Path

import msgspec

from engine.core.memory import MemoryEngine
from engine.core.records.instances import CreateInstance
from engine.core.records.jobs import CompleteJob

MODELS = Path(__file__).parents[1] / "models"


def test_one_task_runs_to_its_end():
    engine = MemoryEngine()
    engine.deploy((MODELS / "one_task.bpmn").read_bytes(), "one_task.bpmn")
    process_id = next(iter(engine.state.families))[1]
    created = engine.run(CreateInstance(process_id, variables={"a": msgspec.Raw(b"1")}))
    assert created.rejection is None
    (job,) = engine.state.jobs
    done = engine.run(CompleteJob(job))
    assert done.rejection is None
    assert not engine.state.elements
