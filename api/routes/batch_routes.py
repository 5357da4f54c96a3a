"""The routes of batch operations, as a part of the table of contents."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.api.access.needs import CREATE_BATCH, READ_BATCH, UPDATE_BATCH
from vivero.api.callers import audited
from vivero.api.callers.permissions import Permission
from vivero.api.routes import batch_operations, jobs, migrations, modifications, suspensions
from vivero.api.routes.route import Route

CREATIONS = (
    ("process-instances/cancellation", "CANCEL_PROCESS_INSTANCE", batch_operations.cancel_instances),
    ("process-instances/suspension", "SUSPEND_PROCESS_INSTANCE", suspensions.suspend_by_filter),
    ("process-instances/resumption", "SUSPEND_PROCESS_INSTANCE", batch_operations.resume_instances),
    (
        "process-definitions/{processDefinitionKey}/instance-suspension",
        "SUSPEND_PROCESS_INSTANCE",
        suspensions.suspend_of_definition,
    ),
    (
        "process-definitions/{processDefinitionKey}/instance-resumption",
        "SUSPEND_PROCESS_INSTANCE",
        suspensions.resume_of_definition,
    ),
    ("process-instances/deletion", "DELETE_PROCESS_INSTANCE", batch_operations.delete_instances),
    ("decision-instances/deletion", "DELETE_DECISION_INSTANCE", batch_operations.delete_decision_instances),
    ("process-instances/migration", "MIGRATE_PROCESS_INSTANCE", migrations.migrate_by_filter),
    ("process-instances/modification", "MODIFY_PROCESS_INSTANCE", modifications.modify_by_filter),
    ("process-instances/incident-resolution", "RESOLVE_INCIDENT", batch_operations.resolve_incidents_of_instances),
    ("jobs/batch-update", "UPDATE_JOB", jobs.update_by_filter),
    ("incidents/resolution", "RESOLVE_INCIDENT", batch_operations.resolve_incidents),
    (
        "process-instances/{processInstanceKey}/incident-resolution",
        "RESOLVE_INCIDENT",
        batch_operations.resolve_incidents_of_instance,
    ),
)
"""Path below /v2, type that names the permission, and handler of each route that creates batch operations."""


def _creations() -> Iterator[Route]:
    """Each needs the permission for its type, or that for all types. The handlers check the rights on processes."""
    for path, type, handler in CREATIONS:
        need = Permission("BATCH", f"CREATE_BATCH_OPERATION_{type}")
        yield Route(
            "POST",
            f"/v2/{path}",
            handler,
            need,
            needs_for_parts=(CREATE_BATCH,),
            audited=audited.CREATE_BATCH,
            has_dry_run=True,
        )


def _changes() -> Iterator[Route]:
    for name, handler, record in (
        ("suspension", batch_operations.suspend, audited.SUSPEND_BATCH),
        ("resumption", batch_operations.resume, audited.RESUME_BATCH),
        ("cancellation", batch_operations.cancel, audited.CANCEL_BATCH),
    ):
        path = f"/v2/batch-operations/{{batchOperationKey}}/{name}"
        yield Route("POST", path, handler, UPDATE_BATCH, is_limited=False, audited=record)


BATCH_ROUTES = (
    *_creations(),
    *_changes(),
    Route("GET", "/v2/batch-operations/{batchOperationKey}", batch_operations.get, READ_BATCH),
    Route("POST", "/v2/batch-operations/search", batch_operations.search, READ_BATCH),
    Route("POST", "/v2/batch-operation-items/search", batch_operations.search_items, READ_BATCH),
)
