"""Query parameters and conditions: the parts of a request that say how, and whether, its operation happens.

A client that sends one relies on it. A route that changes something refuses those that it would ignore: otherwise a
misspelled dry run happens, or a change whose condition nobody compares.
"""

from __future__ import annotations

from vivero.api.commands import dry_runs
from vivero.api.commands.submission import wait_limit_s
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.routes.route import Route

CONDITIONS = frozenset({b"if-match", b"if-none-match"})
DRY_RUN, WAIT, TIMEOUT = "dryRun", "wait", "timeout"


def check(route: Route, request: Request) -> None:
    """Raises Problem 400 for what the route would ignore, and for a parameter that is given several times."""
    if route.owns_query:  # the model of a webhook reads parameters and headers
        return
    if request.query_string:
        _check_query(route, request)
    if not CONDITIONS.isdisjoint(request.fields) and route.changes:
        _check_conditions(route, request)


def _check_query(route: Route, request: Request) -> None:
    given = request.query  # of a route that only reads, too: raises for a repeated one
    if not route.changes:
        return
    for name in given:
        if name != DRY_RUN and name != WAIT and name not in route.parameters:
            raise invalid_argument(f"This operation has no query parameter '{name[:100]}'. Nothing has happened")
    if not route.has_dry_run:
        dry_runs.refuse(request)
    request.flag(WAIT, True)
    if TIMEOUT in given:
        wait_limit_s(request)


def _check_conditions(route: Route, request: Request) -> None:
    for name, heeds in (("If-Match", route.is_conditional), ("If-None-Match", False)):
        if not heeds and request.header(name.lower().encode()) is not None:
            raise invalid_argument(f"This operation has no condition {name}. Nothing has happened")
