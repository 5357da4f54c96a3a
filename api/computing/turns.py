"""Work of requests that compute processes do, and the problems that clients get when they cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vivero.api.http.problems import invalid_argument, not_computed
from vivero.api.services import Services
from vivero.engine.compute.problems import NotComputed, TooCostly
from vivero.engine.compute.turns import WorkKind

T = TypeVar("T")


async def computed(services: Services, kind: WorkKind, work: Callable[..., T], *arguments: Any) -> T:
    """The result of `work(*arguments)`, from a compute process (`ComputePool.call`).

    Raises Problem: 503 with Retry-After if no process can do it now; 400 if the request takes more than one may.
    """
    try:
        return await services.files.compute.call(
            kind, work, *arguments, patience_s=services.settings.response_timeout_s
        )
    except TooCostly as error:
        raise invalid_argument(f"The request takes {error}, which one request must not") from error
    except NotComputed as error:
        raise not_computed(error) from error
