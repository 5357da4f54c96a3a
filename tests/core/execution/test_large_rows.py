"""Rows may be large without variables: quanta count headers, candidates, names and messages of incidents, too."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import loop
from tests.core.message_models import message
from tests.core.models import end, file, process_element, start, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.codec import encode_events
from vivero.core.rules import QUANTUM_CHARACTERS

TURNS = 400
LONG = 200_000
HEADERS = [(f"h{n}", "v" * 50_000) for n in range(LONG // 50_000)]
USER = (
    '<userTask id="work"><extensionElements><zeebe:userTask/>'
    '<zeebe:assignmentDefinition candidateGroups="=names" candidateUsers="=names"/></extensionElements></userTask>'
)
RECEIVES = '<receiveTask id="work" messageRef="m"></receiveTask>'
FAILS = task("work", type="=name + " + '"' + "\\u0000" * 90 + '"')
ROOTS = (message("=name", "=name"),)
CASES = {
    "headers of jobs": task("work", headers=HEADERS),
    "candidates of user tasks": USER,
    "names and keys of subscriptions": RECEIVES,
    "messages of incidents": FAILS,
}


@pytest.mark.parametrize("activity", CASES.values(), ids=CASES)
def test_a_quantum_ends_when_its_rows_have_written_enough(activity):
    """All turns come; but a quantum takes only as many as fit its characters."""
    engine = Engine(StepLimits(quantum_items=500))
    parts = (start(), loop(activity), end(), "start > work > end")
    engine.deploy(file(*ROOTS, process_element(*parts)))
    names = ["n" * 1000 + str(n) for n in range(95)]
    engine.start(items=list(range(TURNS)), names=names, name="k" * 32_000)
    made = [one for one in engine.state.elements.values() if one.element == "work" and one.is_inner]
    assert len(made) == TURNS
    sizes = [sum(len(encode_events(row.events)) for row in logged.handled) for logged in engine.memory.log[1:]]
    assert max(sizes) < 2 * QUANTUM_CHARACTERS, sizes
