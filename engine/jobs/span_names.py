"""Spans of background jobs, one for each part of a run. Without a tracer nothing is made.

job.dispatch    a whole run, from the pull to its end
job.execute     the function
job.complete    the success: the commit of its transaction, if it has one
job.retry       a failure, after which another attempt follows
job.fail        the last failure
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from vivero.storage.background.job_executions import Run

DISPATCH, EXECUTE = "job.dispatch", "job.execute"
COMPLETE, RETRY, FAIL = "job.complete", "job.retry", "job.fail"

Spans = Callable[[str, Run], AbstractContextManager[object]]
"""Begins the span with this name; it ends with the block. An error of the part passes through the block.

`run.type`, `run.id` and `run.attempt` are the span's attributes. `run.trace_context`, a JSON object with the W3C
`traceparent` of the request that added the execution, has the parent of `job.dispatch`."""

_NOTHING = nullcontext()


def no_spans(_name: str, _run: Run) -> AbstractContextManager[object]:
    """The spans without a tracer: they allocate nothing."""
    return _NOTHING
