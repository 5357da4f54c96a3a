"""An activated job, as functions of workers see it."""

from __future__ import annotations

from typing import Any

import msgspec


class Job(msgspec.Struct, rename="camel", kw_only=True, eq=False):
    """The job that a function works on. A parameter with this annotation gets it."""

    job_key: str
    type: str = ""
    job_lease_token: str
    """The token that proves the lease. Reports carry it."""
    retries: int
    """The attempts that are left, this one included."""
    process_instance_key: str = ""
    process_definition_id: str = ""
    process_definition_key: str = ""
    element_id: str = ""
    element_instance_key: str = ""
    tenant_id: str = ""
    kind: str = ""
    """`BPMN_ELEMENT`, `EXECUTION_LISTENER`, `TASK_LISTENER` or `AD_HOC_SUB_PROCESS`."""
    root_process_instance_key: str | None = None
    business_id: str | None = None
    tags: list[str] = msgspec.field(default_factory=list)
    priority: int = 0
    listener_event_type: str | None = None
    user_task: dict[str, Any] | None = None
    """The user task of a task listener, as it will be."""
    headers: dict[str, Any] = msgspec.field(default_factory=dict, name="customHeaders")
    """The headers of the model."""
    raw_variables: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="variables")
    """The JSON of each fetched variable."""
    is_lost: bool = msgspec.field(default=False, name="-")
    """True as soon as the server says that the worker does not have the job any more, such as after a cancellation.

    An `async` function is cancelled then. A function in a thread may look here, and end early.
    """

    @property
    def variables(self) -> dict[str, Any]:
        """The fetched variables as plain data."""
        return {name: msgspec.json.decode(raw) for name, raw in self.raw_variables.items()}

    @property
    def trace_headers(self) -> dict[str, str]:
        """The headers by which requests continue the trace of the process; none if it is not sampled."""
        found = {name: str(self.headers.get(name, "")) for name in ("traceparent", "tracestate")}
        return {name: text for name, text in found.items() if text and text.isascii() and text.isprintable()}


class Activated(msgspec.Struct):
    """The answer to an activation."""

    jobs: list[Job]
