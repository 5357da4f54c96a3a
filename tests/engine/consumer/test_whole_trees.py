"""Operations on a whole instance: the inner instances of its paged loops are loaded, or the operation is refused."""

import pytest

from tests.core.event_models import call, loop, model
from tests.core.models import start, sub, task
from tests.engine.consumer.serial_runs import Serial, save_serially
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Reject
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state import batches, eviction
from vivero.core.state.lazy_variables import LazyVariables
from vivero.core.state.state import State
from vivero.storage.state import load

DOING = "Expected to modify process instance"


@pytest.fixture
async def stored(connection, monkeypatch):
    """A loop in a loop, whose inner instances call a process, in the database; its key and the serial run."""
    monkeypatch.setattr(load, "PARTS_A_TURN", 2)
    serial = Serial(StepLimits(500, paged_from=0))
    inner = loop(call("deep", "called"), collection="=[1, 2]", item="twice")
    serial.deploy(model(start(), task("work"), "start > work", id="called"))
    serial.deploy(model(start(), loop(sub("outer", start("in"), inner, "in > deep"), item="item"), "start > outer"))
    serial.key = serial.start("p", items=[1, 2, 3])
    await save_serially(connection, serial)
    return serial


@pytest.fixture
async def loaded(connection, stored):
    """A processor in whose state only the trunk is."""
    processor = Processor(State(1), StepLimits(500, paged_from=0), stored.memory.find_model)
    await load.fill(connection, processor.state, [Need(NeedKind.INSTANCE, stored.key, to_end=True)])
    return processor


async def test_all_parts_are_loaded_at_once(connection, stored, loaded):
    view, root = loaded.view, loaded.state.elements[stored.key]
    with pytest.raises(NotLoaded) as missing:
        require_whole(root, DOING, view)
    assert missing.value.need == Need(NeedKind.WHOLE, stored.key)
    await load.fill(connection, loaded.state, [missing.value.need])
    require_whole(root, DOING, view)
    assert loaded.state.elements.keys() == stored.state.elements.keys()
    inner = [one for one in loaded.state.elements.values() if one.part is not None]
    assert inner
    assert all(isinstance(one.variables, LazyVariables) for one in inner)


async def test_what_was_evicted_is_loaded_again(connection, stored, loaded):
    await load.fill(connection, loaded.state, [Need(NeedKind.WHOLE, stored.key)])
    batches.close(loaded.state)
    loaded.state.begin_batch()
    eviction.evict_part(loaded.state, next(iter(loaded.state.parts.values())))
    with pytest.raises(NotLoaded):
        require_whole(loaded.state.elements[stored.key], DOING, loaded.view)
    await load.fill(connection, loaded.state, [Need(NeedKind.WHOLE, stored.key)])
    require_whole(loaded.state.elements[stored.key], DOING, loaded.view)


async def test_too_many_rows_are_refused_by_name(stored, loaded):
    rows = loaded.state.trees[stored.key].rows + loaded.state.trees[stored.key].in_parts
    processor = Processor(loaded.state, StepLimits(max_whole_rows=rows - 1), stored.memory.find_model)
    with pytest.raises(Reject) as refused:
        require_whole(loaded.state.elements[stored.key], DOING, processor.view)
    text = f"{DOING}, but its instance tree has {rows} live elements, and at most {rows - 1} are allowed"
    assert refused.value.rejection.reason == text
    assert refused.value.rejection.code == "INVALID_STATE"


async def test_an_unknown_instance_has_no_parts(connection):
    state = State(1)
    await load.fill(connection, state, [Need(NeedKind.WHOLE, 7)])
    assert not state.elements
