"""The Quart application: routes, the check of foreign web pages, headers, errors; files with a hash come before it.

It has no lifespan and no background tasks. Its caller passes all that it needs. Another task of the program serves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import structlog
from quart import Response, request
from quart_trio import QuartTrio

from vivero.api.http.origins import Gate
from vivero.api.http.problems import Problem
from vivero.api.settings import ApiSettings
from vivero.web import live_stream
from vivero.web.console import console_pages, hashed_files
from vivero.web.console.console_files import ConsoleFiles
from vivero.web.live import Hub
from vivero.web.mount import App
from vivero.web.requests import as_response, headers
from vivero.web.security_headers import COMMON, PAGE_POLICY
from vivero.web.sign_in import sign_in_pages
from vivero.web.sign_in.sign_in_pages import SignIn

log = structlog.get_logger(__name__)

MAX_FORM_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class WebParts:
    """The parts that the pages need. `files` is None if the console was not built, `sign_in` without authentication."""

    settings: ApiSettings
    hub: Hub
    files: ConsoleFiles | None
    sign_in: SignIn | None = None


class _Application(QuartTrio):
    """Errors go to the program's log."""

    def log_exception(self, exception_info: Any) -> None:
        """Called for errors that no handler expected."""
        log.error("a page failed", method=request.method, endpoint=request.endpoint, exc_info=exception_info)


def build(parts: WebParts) -> App:
    """Build the application."""
    application = _Application(__name__, static_folder=None)
    application.config.update(MAX_CONTENT_LENGTH=MAX_FORM_BYTES, RESPONSE_TIMEOUT=None, BODY_TIMEOUT=None)
    gate = Gate(parts.settings)

    @application.before_request
    async def check_origin() -> Response | None:
        try:
            gate.check(request.method, headers())
        except Problem as problem:
            return as_response(problem)
        return None

    @application.after_request
    async def add_headers(response: Response) -> Response:
        for name, value in COMMON.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", PAGE_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    live_stream.add(application, parts.hub, None if parts.sign_in is None else parts.sign_in.authenticator)
    sign_in_pages.add(application, parts.sign_in, gate)
    console_pages.add(application, parts.files)
    pages = cast("App", application)
    return pages if parts.files is None else hashed_files.answered_first(parts.files, gate, pages)
