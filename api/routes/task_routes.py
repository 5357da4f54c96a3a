"""The routes of user tasks, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access.needs import CLAIM_TASK, COMPLETE_TASK, READ_TASK, UPDATE_TASK
from vivero.api.access.scopes import Scope
from vivero.api.callers import audited
from vivero.api.routes import audit_logs, forms, task_comments, user_tasks
from vivero.api.routes.route import Route, exports, of_key, of_tree, variables_limit

TASK_ROUTES = (
    Route("POST", "/v2/user-tasks/search", user_tasks.search, READ_TASK, scope=Scope.RESULTS),
    *exports("/v2/user-tasks/export", user_tasks.export, READ_TASK),
    of_key("GET", "/v2/user-tasks/{userTaskKey}", user_tasks.get, READ_TASK),
    of_tree("PATCH", "/v2/user-tasks/{userTaskKey}", user_tasks.update, UPDATE_TASK, audited.UPDATE_TASK),
    of_tree(
        "POST",
        "/v2/user-tasks/{userTaskKey}/assignment",
        user_tasks.assign,
        UPDATE_TASK,
        audited.ASSIGN_TASK,
        needs_for_parts=(CLAIM_TASK,),
    ),
    of_tree("DELETE", "/v2/user-tasks/{userTaskKey}/assignee", user_tasks.unassign, UPDATE_TASK, audited.UNASSIGN_TASK),
    of_tree(
        "POST",
        "/v2/user-tasks/{userTaskKey}/completion",
        user_tasks.complete,
        COMPLETE_TASK,
        audited.COMPLETE_TASK,
        is_limited=False,
        max_body_bytes=variables_limit,
    ),
    of_key("GET", "/v2/user-tasks/{userTaskKey}/form", forms.of_user_task, READ_TASK),
    of_key("POST", "/v2/user-tasks/{userTaskKey}/variables/search", user_tasks.variables, READ_TASK),
    of_key("POST", "/v2/user-tasks/{userTaskKey}/effective-variables/search", user_tasks.effective, READ_TASK),
    of_key(
        "POST",
        "/v2/user-tasks/{userTaskKey}/comments",
        task_comments.add,
        UPDATE_TASK,
        audited.COMMENT_TASK,
        needs_for_parts=(CLAIM_TASK, COMPLETE_TASK),
    ),
    of_key("POST", "/v2/user-tasks/{userTaskKey}/comments/search", task_comments.search, READ_TASK),
    of_key("POST", "/v2/user-tasks/{userTaskKey}/audit-logs/search", audit_logs.search_of_user_task, READ_TASK),
)
