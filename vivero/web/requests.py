"""The current request, in the words of the API: its headers as bytes, and the address that it counts for."""

from __future__ import annotations

from typing import Any, cast

from quart import request

from vivero.api.http.request import OWNER, Headers


def headers() -> Headers:
    """The headers as they came, with names in lower case."""
    return list(request.scope["headers"])


def address() -> str:
    """The address that the request counts for where clients share a limit; "" if the server does not say."""
    owner = cast("dict[str, Any]", request.scope.get("extensions", {})).get(OWNER)
    return "" if owner is None else str(owner(headers()))
