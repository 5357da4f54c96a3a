"""Problem details (RFC 9457), with the titles that clients of the REST API expect.

Clients act on titles: the official JavaScript client repeats a 503 only if its title is RESOURCE_EXHAUSTED. Vivero
therefore uses this title only if nothing was written. All five members are always present, because clients decode all.
"""

from __future__ import annotations

from collections.abc import Mapping

from vivero.api.http.response import PROBLEM_JSON, Header, Response, encode, position_header
from vivero.api.http1.problems import RETRY_AFTER
from vivero.core.commands.conditional_change import change_of
from vivero.core.dry_runs.report import reported
from vivero.core.records.base import Command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.engine.compute.problems import Busy, NotComputed
from vivero.engine.outcomes.admission import (
    Draining,
    InDoubt,
    Lost,
    NotAppended,
    Overloaded,
    Unavailable,
    ValueRejected,
)
from vivero.storage.retention.archives import ArchiveProblem

LATER: Header = (b"retry-after", RETRY_AFTER)
TIMED_OUT = "Expected to handle request, but request timed out between gateway and broker"

REJECTIONS: Mapping[RejectionCode, tuple[int, str]] = {
    RejectionCode.NOT_FOUND: (404, "NOT_FOUND"),
    RejectionCode.INVALID_STATE: (409, "INVALID_STATE"),
    RejectionCode.ALREADY_EXISTS: (409, "ALREADY_EXISTS"),
    RejectionCode.INVALID_ARGUMENT: (400, "INVALID_ARGUMENT"),
    RejectionCode.PRECONDITION_FAILED: (412, "PRECONDITION_FAILED"),
    RejectionCode.PROCESSING_ERROR: (500, "INTERNAL"),
    RejectionCode.RESOURCE_EXHAUSTED: (503, "RESOURCE_EXHAUSTED"),
}
"""The reason of a rejection → status and title."""

NOT_APPENDED: Mapping[type[NotAppended], tuple[int, str]] = {
    Overloaded: (503, "RESOURCE_EXHAUSTED"),
    Unavailable: (503, "UNAVAILABLE"),
    Draining: (503, "UNAVAILABLE"),
    ValueRejected: (400, "INVALID_ARGUMENT"),
    Lost: (503, "UNAVAILABLE"),
    InDoubt: (504, "DEADLINE_EXCEEDED"),
}
"""The reason why a command was not appended → status and title."""


class Problem(Exception):
    """Raised by handlers to answer with a problem. `members` extend the five standard ones.

    `position` is that of the request's command, if it is in the log. The answer contains it in a header and as a
    member, like every answer to a command.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *headers: Header,
        position: int | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.headers = headers if position is None else (position_header(position), *headers)
        self.members = dict(members or {})
        if position is not None:
            self.members["commandPosition"] = str(position)

    def response(self, instance: str) -> Response:
        """The response. `instance` is the path of the request."""
        document = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            **self.members,
        }
        return Response(self.status, encode(document), (PROBLEM_JSON, *self.headers))


def bad_request(detail: str) -> Problem:
    """400 for a request that cannot be parsed."""
    return Problem(400, "Bad Request", detail)


def unparsable(path: str) -> Problem:
    """400 for a property of a wrong type, or an unknown one. `path` is its place: a.b[0].c."""
    return bad_request(f"Request property [{path}] cannot be parsed")


def unexpected_value(value: object, field: str, allowed: tuple[str, ...]) -> Problem:
    """400 for a value that is not a member of an enumeration."""
    expected = ", ".join(allowed)
    return bad_request(
        f"Unexpected value '{str(value)[:100]}' for enum field '{field}'. Use any of the following values: [{expected}]"
    )


def invalid_argument(*violations: str) -> Problem:
    """400 for a request that can be parsed but has invalid values."""
    return Problem(400, "INVALID_ARGUMENT", ". ".join(violations) + ".")


def too_large(limit: int, of: str = "") -> Problem:
    """413 for a body of more bytes than a route takes. `of` follows in the text: where the limit comes from."""
    return Problem(413, "Content Too Large", f"The request body is larger than {limit} bytes, which is the limit{of}")


def archive_away(problem: ArchiveProblem) -> Problem:
    """503: nothing was deleted, because the archive cannot be written or read. Clients repeat the request later."""
    return Problem(503, "UNAVAILABLE", f"{problem}. Nothing more was deleted: repeat the request later")


def not_found(what: str, key: int | str, *, by: str = "key") -> Problem:
    """404 for a read of a resource that does not exist."""
    return Problem(404, "NOT_FOUND", f"{what} with {by} '{key}' not found")


def rejected(command: Command, rejection: Rejection, position: int | None = None) -> Problem:
    """The problem for a command that the engine rejected. `position` None: it was a dry run."""
    status, title = REJECTIONS[rejection.code]
    if isinstance(command, ChangeIfMatch):
        command = change_of(command)
    verb = command.intent.partition(":")[2]
    detail = f"Command '{verb}' rejected with code '{rejection.code}': {rejection.reason}"
    later = [LATER] if status == 503 else []
    return Problem(status, title, detail, *later, position=position, members=_all_problems(rejection))


def _all_problems(rejection: Rejection) -> dict[str, object]:
    """`detail` names the first problem only, as in Camunda."""
    if not rejection.violations:
        return {}
    return {"problems": [reported(one) for one in rejection.violations]}


def not_computed(error: NotComputed) -> Problem:
    """The problem for a request whose work no compute process can do now."""
    title = "RESOURCE_EXHAUSTED" if isinstance(error, Busy) else "UNAVAILABLE"
    return Problem(503, title, f"Nothing was done: {error}; try again later", LATER)


def not_appended(error: NotAppended) -> Problem:
    """The problem for a command that is not in the log, or (InDoubt) may be in it."""
    status, title = NOT_APPENDED[type(error)]
    if status == 504:
        return Problem(status, title, TIMED_OUT)
    later = [LATER] if status == 503 else []
    return Problem(status, title, f"Expected to handle request, but the command was not taken: {error}", *later)
