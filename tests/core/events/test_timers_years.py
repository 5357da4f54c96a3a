"""A hundred thousand timers over ten years, in the core alone."""

import heapq
import os
import random
from time import process_time

import msgspec
import pytest

from tests.core.models import HEAD
from vivero.core.memory import MemoryEngine
from vivero.core.records.instances import CreateInstance
from vivero.core.records.timers import TriggerTimer

COUNT = int(os.environ.get("VIVERO_TIMERS") or 100_000)
TEN_YEARS = 3_652 * 86_400_000
MODEL = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s"/><intermediateCatchEvent id="wait">'
    "<timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition></intermediateCatchEvent>"
    '<endEvent id="e"/><sequenceFlow id="a" sourceRef="s" targetRef="wait"/>'
    '<sequenceFlow id="b" sourceRef="wait" targetRef="e"/></process></definitions>'
).encode()


def live(count):
    """Create, then fire in due order; the seconds of CPU that firing took."""
    engine, random_ = MemoryEngine(), random.Random(count)
    engine.deploy(MODEL)
    for _ in range(count):
        wait = f'"PT{random_.randrange(TEN_YEARS // 1000)}S"'.encode()
        assert engine.run(CreateInstance("p", variables={"wait": msgspec.Raw(wait)})).rejection is None
    heap = [(due, key) for key, (due, _) in engine.processor.notices.timers.items()]
    heapq.heapify(heap)
    engine.log.clear()
    fired, began = [], process_time()
    while heap:
        due, key = heapq.heappop(heap)
        engine.now = due
        engine.run(TriggerTimer(key, due))
        fired.append(due)
    seconds = process_time() - began
    assert not engine.state.elements
    assert not engine.state.timers
    assert len(fired) == count
    assert fired == sorted(fired)
    return seconds


def test_a_thousand_timers_fire_once_and_in_order():
    live(1_000)


@pytest.mark.long
def test_ten_years_of_a_hundred_thousand_timers():
    seconds = live(COUNT)
    print(f"{COUNT} timers over ten years in {seconds:.1f} s of CPU")
    assert seconds < 15
