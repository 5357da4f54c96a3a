"""Answers of pages that are problems."""

from __future__ import annotations

from quart import Response, request
from werkzeug.datastructures import Headers

from vivero.api.http.problems import Problem


def as_response(problem: Problem) -> Response:
    """The answer for a problem."""
    made = problem.response(request.path)
    headers = Headers([(name.decode(), value.decode()) for name, value in made.headers])
    return Response(made.body, made.status, headers)
