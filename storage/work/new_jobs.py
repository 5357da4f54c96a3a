"""New jobs as the API shows them, made from the state in memory, for workers that get them with the commit.

The text says the same as the SQL function `job_as_shown`. The activation's statements show the other jobs: those that
see many or large variables, or variables that are not in memory, and those of task listeners, which show the task, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.core.needs import NotLoaded
from vivero.core.shared.jobs import TASK_LISTENER
from vivero.core.state.instance_tree import Element, Job
from vivero.storage.work.activation import SMALL_BYTES

MAX_SEEN = 100
"""Variables that a job sees, with those that others hide."""


class _ShownJob(msgspec.Struct, rename="camel", gc=False):
    """The members of `job_as_shown`."""

    type: str
    process_definition_id: str
    process_definition_version: int
    element_id: str
    custom_headers: dict[str, str]
    worker: str
    retries: int
    deadline: int
    variables: msgspec.Raw
    tenant_id: str
    job_key: str
    process_instance_key: str
    process_definition_key: str
    element_instance_key: str
    kind: str
    listener_event_type: str
    tags: tuple[str, ...]
    root_process_instance_key: str
    business_id: str | None
    priority: int
    job_lease_token: str | None
    user_task: None = None
    physical_tenant_id: str = "default"


_encode = msgspec.json.Encoder().encode


def shown(job: Job, worker: str, until_ms: int, token: str | None, names: Sequence[str] | None) -> bytes | None:
    """The JSON of a job that is leased to a worker. None: it is not shown from memory.

    `until_ms`: the lease's end; `token`: None if the worker does not ask for it; `names`: only these variables.
    """
    element = job.element
    instance = element.instance
    seen = None if job.kind == TASK_LISTENER else _seen(element, names)
    if seen is None:
        return None
    return _encode(
        _ShownJob(
            job.type,
            instance.process_id,
            instance.version_number,
            element.element,
            job.headers if job.context is None else _traced(job.headers, job.context),
            worker,
            job.retries,
            until_ms,
            msgspec.Raw(seen),
            instance.tenant,
            str(job.key),
            str(instance.key),
            str(instance.definition_key),
            str(element.key),
            job.kind,
            job.listener_event,
            instance.tags,
            str(instance.tree.key),
            job.business_id,
            job.priority,
            token,
        )
    )


def _seen(element: Element, names: Sequence[str] | None) -> bytes | None:
    """The variables that a job sees, as JSON. None: they are not in memory, too many or too large."""
    texts: dict[str, str] = {}
    scope: Element | None = element
    looked_at = size = 0
    try:
        while scope is not None:
            looked_at += len(scope.variables)
            if scope.past is not None or looked_at > MAX_SEEN:
                return None
            for name, variable in scope.variables.items():
                if name not in texts and (names is None or name in names):
                    texts[name] = variable.value
                    size += len(variable.value)
            scope = scope.outer()
    except NotLoaded:
        return None
    if size > SMALL_BYTES:
        return None
    return b"{%b}" % ",".join([f"{_quoted(name)}:{value}" for name, value in texts.items()]).encode()


def _quoted(name: str) -> str:
    return str(_encode(name), "utf-8")


def _traced(headers: dict[str, str], context: str) -> dict[str, str]:
    """The headers with the context of the trace, as `headers_with_trace` gives it."""
    parent, _, state = context.partition(" ")
    of_trace = {"traceparent": parent} | ({"tracestate": state} if state else {})
    return of_trace | headers
