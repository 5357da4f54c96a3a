"""The console's files below `/console/`, the redirect from `/`, and a page that explains how to build the console."""

from __future__ import annotations

from pathlib import Path

from quart import Response, redirect, request
from quart_trio import QuartTrio
from werkzeug.wrappers import Response as PlainResponse

from vivero.web.console.console_files import ConsoleFile, ConsoleFiles
from vivero.web.console.hashed_files import codings, headers_of
from vivero.web.mount import PREFIX

MISSING = (Path(__file__).parents[1] / "pages" / "missing.html").read_text(encoding="utf-8")
HTML = "text/html; charset=utf-8"


def add(application: QuartTrio, files: ConsoleFiles | None) -> None:
    """Add the routes."""

    @application.get("/")
    @application.get(PREFIX)
    async def to_console() -> PlainResponse | Response:
        return redirect(f"{PREFIX}/", 302)

    @application.get(f"{PREFIX}/", defaults={"path": ""})
    @application.get(f"{PREFIX}/<path:path>")
    async def console(path: str) -> Response:
        if files is None:
            return Response(MISSING, 503, content_type=HTML)
        found = files.find(path)
        return _not_found() if found is None else _answer(found, files.links(path))


def _not_found() -> Response:
    return Response("There is no such file.\n", 404, content_type="text/plain; charset=utf-8")


def _answer(file: ConsoleFile, links: str | None) -> Response:
    coding, body = file.best(codings(request.headers.get("Accept-Encoding", "")))
    headers = {**headers_of(file, coding), **({"Link": links} if links else {})}
    if request.if_none_match.contains_weak(headers["ETag"].strip('"')):
        return Response(b"", 304, {name: value for name, value in headers.items() if name != "Content-Encoding"})
    return Response(body, 200, headers, content_type=file.type)
