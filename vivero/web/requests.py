"""The current request, in the words of the API: its headers, its address, and the answer for a problem."""

from __future__ import annotations

from typing import Any, cast

from quart import Response, request
from werkzeug.datastructures import Headers as AnswerHeaders

from vivero.api.http.problems import Problem
from vivero.api.http.request import OWNER, Headers


def headers() -> Headers:
    """The headers as they came, with names in lower case."""
    return list(request.scope["headers"])


def address() -> str:
    """The address that the request counts for where clients share a limit; "" if the server does not say."""
    owner = cast("dict[str, Any]", request.scope.get("extensions", {})).get(OWNER)
    return "" if owner is None else str(owner(headers()))


def as_response(problem: Problem) -> Response:
    """The answer for a problem."""
    made = problem.response(request.path)
    fields = AnswerHeaders([(name.decode(), value.decode()) for name, value in made.headers])
    return Response(made.body, made.status, fields)
