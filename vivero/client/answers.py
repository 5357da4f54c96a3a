"""Results of the client's requests: answers and pages, or exceptions whose texts are one readable line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from vivero.api.access.whole_answers import read_whole
from vivero.core.texts.fields import retry_after_s

Document = dict[str, Any]

UNAUTHORIZED = 401
MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""No answer of a server is as large: pages of searches have 32 MiB."""
MAX_DIGITS = 4000
"""Digits of a whole number. Python refuses to write more than 4,300."""
MAX_SHOWN = 200
"""Characters of a value that a message shows."""
_REJECTED = re.compile(r"^Command '\w+' rejected with code '\w+': ")
"""The beginning of Camunda's details of rejections. It repeats the title."""


class ClientError(Exception):
    """Base of all failures of a request."""


class NotSendable(ClientError):
    """The request cannot be sent: a value has no form in JSON, in a header or in a URL, or the environment is wrong."""


def why_not_sendable(error: Exception) -> str:
    """The reason why a value cannot be sent, for a message."""
    if isinstance(error, UnicodeEncodeError):
        return f"the text {error.object[:MAX_SHOWN]!a} has bytes that are not {error.encoding.upper()}"
    return str(error)


class BadAddress(ClientError):
    """The text is not an address of a server."""


class Unavailable(ClientError):
    """No server takes the request now: none answers, or it is overloaded. The same request may work later.

    `in_doubt`: a server may have accepted the request, or an earlier try of it.
    """

    in_doubt: bool = False


class Unreachable(Unavailable):
    """No server answers, or the answer is incomplete."""

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt


class ApiError(ClientError):
    """The server answered with a problem (RFC 9457). `position` is the command's position, if it is in the log.

    `members` are all members of the problem. `retry_after_s`: the time that the server asks to wait, if it does.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        position: int | None,
        members: Document,
        retry_after_s: float | None = None,
    ) -> None:
        key = members.get("processInstanceKey")
        about = "" if key is None else f"; the process instance is {key}"
        if status == UNAUTHORIZED:
            about += ". Set VIVERO_TOKEN, or VIVERO_USERNAME and VIVERO_PASSWORD"
        super().__init__(f"{_REJECTED.sub('', detail) or title} ({status} {title}){about}")
        self.status = status
        self.title = title
        self.detail = detail
        self.position = position
        self.members = members
        self.retry_after_s = retry_after_s


class BadRequest(ApiError):
    """400, 413 or 422: the request itself is wrong, such as a value of a wrong type, or too many bytes."""


class NotAllowed(ApiError):
    """401 or 403: the credentials are missing or wrong, or do not allow the request."""


class NotFound(ApiError):
    """404: nothing has this key or id, or the caller may not see it."""


class Conflict(ApiError):
    """409 or 412: the state of the subject does not allow the request (`title` INVALID_STATE, ALREADY_EXISTS, …)."""


class OutcomeUnknown(ApiError):
    """504: the server did not learn the outcome in time. A command with a `position` is in the log, and will happen."""


class Overloaded(ApiError, Unavailable):
    """429, 502 or 503: this try did nothing, except that a proxy may have sent on what it answers with 502."""


def may_pass(error: ClientError) -> bool:
    """Whether the server may answer later: it restarts, or is too busy."""
    return isinstance(error, Unavailable | OutcomeUnknown)


ERRORS_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    413: BadRequest,
    422: BadRequest,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    504: OutcomeUnknown,
    429: Overloaded,
    502: Overloaded,
    503: Overloaded,
}


class Missing(ClientError, KeyError):
    """An answer lacks a member that every Vivero server sends."""

    def __str__(self) -> str:
        return f"the answer has no '{self.args[0]}': is it a Vivero server?"


class Members(Document):
    """An object of an answer. Reading a member that it lacks is an error of the client, of one readable line."""

    def __missing__(self, name: str) -> Any:
        raise Missing(name)


def whole_blocking(response: httpx.Response) -> httpx.Response:
    """As `whole`, for a client that blocks."""
    _check_unpacked(response)
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            break
    return _with_body(response, bytes(body) if len(body) <= MAX_ANSWER_BYTES else None)


async def whole(response: httpx.Response) -> httpx.Response:
    """The response with its whole body. Raises ClientError if it is too large, or packed: few bytes unpack to many."""
    _check_unpacked(response)
    return _with_body(response, await read_whole(response, MAX_ANSWER_BYTES))


def _check_unpacked(response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ClientError(f"the answer of {response.url} is packed, although the client did not ask for that")


def _with_body(response: httpx.Response, body: bytes | None) -> httpx.Response:
    if body is None:
        raise ClientError(f"the answer of {response.url} has more than {MAX_ANSWER_BYTES >> 20} MiB")
    return httpx.Response(
        response.status_code,
        headers=response.headers,
        content=body,
        request=response.request,
        extensions=response.extensions,
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `body`: decoded JSON, None without content. `position`: the command's position in the log, if any."""

    status: int
    body: Any
    position: int | None

    @property
    def document(self) -> Document:
        """The body of an answer that has one. Raises ClientError if it is empty: something else has answered."""
        if self.body is None:
            raise ClientError("the answer is empty: is it a Vivero server?")
        document: Document = self.body
        return document


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a search. `after` is the cursor of the next page, None on the last."""

    items: list[Document]
    total: int
    """The number of all matches, at most 10,000."""
    after: str | None
    has_more: bool = False
    """Whether there are more matches than `total`."""


def number_of(text: str) -> float | int:
    """A number of JSON that is no whole one. One beyond Python's floats becomes a whole number, and loses nothing.

    Raises ClientError for more digits than Python writes.
    """
    found = float(text)
    if not math.isinf(found):
        return found
    exact = Decimal(text)
    if exact.adjusted() >= MAX_DIGITS:
        raise ClientError(f"the answer has a number with more than {MAX_DIGITS} digits: {text[:MAX_SHOWN]}")
    return int(exact)


def position_in(headers: Mapping[str, str]) -> int | None:
    """The position of the command in the log, if the headers of an answer have one."""
    position = headers.get("command-position")
    return int(position) if position is not None and position.isdecimal() else None


def answer_of(response: httpx.Response) -> Answer:
    """The answer of a response. Raises ApiError, and ClientError if it does not come from a server of ours."""
    number = position_in(response.headers)
    try:
        body = response.json(object_hook=Members, parse_float=number_of) if response.content else None
    except (ValueError, RecursionError) as error:
        if response.is_success:
            raise ClientError(f"the answer of {response.url} is not JSON: is it a Vivero server?") from error
        body = None
    if response.is_success:
        if body is not None and not isinstance(body, dict):
            raise ClientError(f"the answer of {response.url} is not a JSON object: is it a Vivero server?")
        return Answer(response.status_code, body, number)
    members = body if isinstance(body, dict) else {}
    title = members.get("title") or response.reason_phrase or "no reason given"
    kind = ERRORS_BY_STATUS.get(response.status_code, ApiError)
    detail = str(members.get("detail") or "")
    raise kind(
        response.status_code, str(title), detail, number, members, retry_after_s(response.headers.get("retry-after"))
    )
