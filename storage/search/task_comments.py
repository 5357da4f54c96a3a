"""Comments on a user task that can be searched."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.fields import KEY, PLAIN, TEXT, TIME, Field, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource


def _of_task(key: Any, _path: str, parameters: Parameters) -> str:
    return f"c.user_task_key = {parameters.add(key, 'bigint')}"


USER_TASK_COMMENTS = Resource(
    "User Task Comment",
    "user_task_comments c",
    "c.comment_key",
    (
        Field("commentKey", "c.comment_key", KEY, PLAIN, sort=True),
        Field("userTaskKey", "c.user_task_key", KEY),
        Field("processInstanceKey", "c.process_instance_key", KEY),
        Field("tenantId", "c.tenant_id", TEXT),
        filtered("author", "c.author", TEXT),
        filtered("creationDate", "c.created_at", TIME, sort=True),
        Field("text", "c.text", TEXT),
    ),
    within={"user task": _of_task},
    process_sql="(SELECT p.process_id FROM process_instances p WHERE p.process_instance_key = c.process_instance_key)",
)
"""The search needs the condition "user task"."""
