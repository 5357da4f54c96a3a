"""Jobs of connectors, as the dispatcher and the models of processes know them, without a client of HTTP."""

from __future__ import annotations

import msgspec


class ConnectorJob(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an activated job that a connector needs. `variables` is JSON."""

    job_key: str
    type: str
    element_id: str
    process_definition_key: str
    tenant_id: str
    retries: int
    custom_headers: dict[str, str]
    variables: msgspec.Raw
    job_lease_token: str
    process_definition_id: str | None = None
    process_instance_key: str | None = None
    element_instance_key: str | None = None
    kind: str = "BPMN_ELEMENT"
