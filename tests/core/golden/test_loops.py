"""Golden traces of activities as multi-instance ones: at once, in sequence, with incidents, cancelled, listened to.

`pytest --rewrite-golden` writes tests/core/golden/looped_*.txt anew; a change of behaviour is a readable diff.
"""

import pytest

from tests.core.golden.recording import CHECK, cancelled, in_process, listened, to_the_end, traced, with_an_incident
from tests.core.golden.variants_loops import ACTIVITIES, PARALLEL, SEQUENTIAL


def sections(name):
    parallel, sequential = PARALLEL[name], SEQUENTIAL[name]
    yield "parallel", traced(in_process(parallel(())), to_the_end)
    yield "sequential", traced(in_process(sequential(())), to_the_end)
    yield "with_an_incident", traced(in_process(parallel(CHECK)), with_an_incident, ok=False)
    ended = cancelled(in_process(sequential(())))
    if ended is not None:
        yield "cancelled", ended
    yield "with_listeners", traced(listened(in_process(parallel(()))), to_the_end)


@pytest.mark.parametrize("name", ACTIVITIES)
def test_the_trace_is_the_golden_one(name, golden):
    golden(f"looped_{name}", "".join(f"# {title}\n" + "\n".join(lines) + "\n\n" for title, lines in sections(name)))
