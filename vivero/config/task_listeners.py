"""Task listeners of the whole cluster in the settings file (docs/task-listeners.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vivero.core.bpmn.reading.text_limits import JOB_TYPE_BYTES, size
from vivero.core.records.user_tasks import LISTENER_ID
from vivero.storage.state.task_listeners import EVENT_TYPES, GlobalTaskListener, each_once

MAX_INT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TaskListenerSettings:
    """A listener, with the names and defaults of the API. `type` and `event_types` are required."""

    type: str = ""
    event_types: tuple[str, ...] = ()
    retries: int = 3
    priority: int = 50
    after_non_global: bool = False
    origin: str = field(default="", compare=False)
    """The source of the settings, for messages."""

    def __post_init__(self) -> None:
        for event in self.event_types:
            if event.lower() not in EVENT_TYPES:
                raise ValueError(f"'{event}' is not an event of task listeners: {', '.join(EVENT_TYPES)}")
        if size(self.type) > JOB_TYPE_BYTES:
            raise ValueError(f"a type has at most {JOB_TYPE_BYTES} bytes")
        if not 1 <= self.retries <= MAX_INT:
            raise ValueError(f"retries must be from 1 to {MAX_INT}")
        if abs(self.priority) > MAX_INT:
            raise ValueError(f"priority must be from -{MAX_INT} to {MAX_INT}")

    def listener(self, id: str) -> GlobalTaskListener:
        """The listener, with each event once; `all` absorbs others."""
        events = each_once(map(str.lower, self.event_types))
        return GlobalTaskListener(id, self.type.strip(), self.retries, self.priority, self.after_non_global, events)


@dataclass(frozen=True, slots=True)
class UserTaskSettings:
    """Settings of user tasks."""

    listeners: Mapping[str, TaskListenerSettings] = field(default_factory=dict)
    """Task listeners of the whole cluster: in the file a table for each id, in the environment a JSON object."""

    def __post_init__(self) -> None:
        for id in self.listeners:
            if LISTENER_ID.fullmatch(id) is None:
                raise ValueError(f"the id '{id[:100]}' must have up to 256 of the characters a-z A-Z 0-9 _~@.+-")

    def all_listeners(self) -> list[GlobalTaskListener]:
        """The listeners, as the cluster has them."""
        return [settings.listener(id) for id, settings in self.listeners.items()]
