from vivero.client.answers import (
    ApiError,
    BadAddress,
    BadRequest,
    ClientError,
    Conflict,
    NotAllowed,
    NotFound,
    NotSendable,
    OutcomeUnknown,
    Overloaded,
    Unavailable,
    Unreachable,
)
from vivero.client.records.filters import Where
from vivero.client.typed.administration import ElementCounts, Member, StoredDocument
from vivero.client.typed.asynchronous import AsyncBatchHandle, AsyncInstanceHandle, AsyncViveroClient
from vivero.client.typed.asynchronous_paging import AsyncSearch
from vivero.client.typed.outcomes import Comment, Deployment, NotCompleted, NotDecided, QueuedCommand, StillRunning
from vivero.client.typed.synchronous import BatchHandle, InstanceHandle, ViveroClient
from vivero.client.typed.synchronous_paging import Search

__all__ = [
    "ApiError",
    "AsyncBatchHandle",
    "AsyncInstanceHandle",
    "AsyncSearch",
    "AsyncViveroClient",
    "BadAddress",
    "BadRequest",
    "BatchHandle",
    "ClientError",
    "Comment",
    "Conflict",
    "Deployment",
    "ElementCounts",
    "InstanceHandle",
    "Member",
    "NotAllowed",
    "NotCompleted",
    "NotDecided",
    "NotFound",
    "NotSendable",
    "OutcomeUnknown",
    "Overloaded",
    "QueuedCommand",
    "Search",
    "StillRunning",
    "StoredDocument",
    "Unavailable",
    "Unreachable",
    "ViveroClient",
    "Where",
]
