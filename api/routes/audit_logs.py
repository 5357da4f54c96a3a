"""The audit log: one record, and searches in all records or in those of a user task."""

from __future__ import annotations

from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.search.search_requests import getting, prepare, run, searching
from vivero.api.services import Services
from vivero.storage.search.audit_log import AUDIT_LOG, OF_USER_TASK

get = getting(AUDIT_LOG, "auditLogKey")
search = searching(AUDIT_LOG)


async def search_of_user_task(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/audit-logs/search: who changed the task."""
    key = request.key("userTaskKey")
    prepared = prepare(request, OF_USER_TASK, services.settings, ("user task", key))
    return await run(request, services, prepared)
