"""The way of every command: append, wait for its outcome, answer.

The command, or what came of it, is durable before anything is answered; waiting is separate from having appended, so
that a handler which is cancelled or runs out of time takes nothing back. Every answer names the command's position in
the log.
"""

from __future__ import annotations

import hashlib
import re

import msgspec
import trio

from vivero.api.decoding import any_decoder
from vivero.api.problems import TIMED_OUT, Problem, bad_request, not_appended, rejected
from vivero.api.request import UNWATCHED_S, Request
from vivero.api.response import Header, Response, iso_time, json_response, no_content, position_header
from vivero.api.services import Services
from vivero.engine.core.records.base import DEFAULT_TENANT, PARTITION, Command
from vivero.engine.core.records.effects import Rejection, RejectionCode
from vivero.engine.runtime.appender.admission import Lost, NotAppended
from vivero.engine.runtime.appender.task import Append
from vivero.storage import log
from vivero.storage.log import Appended, CommandOutcome

IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
MAX_REPETITIONS = 10
_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m)?")
_UNIT_MS = {None: 1, "ms": 1, "s": 1000, "m": 60_000}


FLUSHED_BY_ITSELF_S = 2.0
"""By then PostgreSQL has flushed what nobody asked it to flush (three times wal_writer_delay, mostly 0.6 s): an answer
that says where a command stands, but not what came of it, may be given. Before, a crash might take the command back."""

_encode_sorted = msgspec.json.Encoder(decimal_format="number", order="sorted").encode


class Accepted(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer to who does not wait: the command is durable."""

    command_position: str
    timestamp: str


class Submitted(msgspec.Struct, frozen=True, gc=False):
    """A command that is in the log and was accepted; `outcome` is None for who did not want to wait."""

    appended: Appended
    outcome: CommandOutcome | None

    @property
    def position(self) -> Header:
        return position_header(self.appended.position)


async def command(
    request: Request, services: Services, command: Command, key: int | None = None, *, content: bytes | None = None
) -> Response:
    """The whole way of a command that is answered without content."""
    submitted = await submit(request, services, command, key, content=content)
    if submitted.outcome is None:
        return await accepted(services, submitted.appended)
    return no_content(submitted.position)


async def submit(
    request: Request,
    services: Services,
    command: Command,
    key: int | None = None,
    *,
    content: bytes | None = None,
    deadline: float | None = None,
    insists: bool = False,
) -> Submitted:
    """Append a command and, unless asked not to, wait for its outcome until `deadline` (Trio's clock).

    `key` is what the command is about, for display; `content` stands for the body in the fingerprint of an idempotent
    request (None: the body itself); `insists`: the request says by itself that it waits, whatever the server's default.
    Raises Problem when the command was not taken, was rejected, or took too long.
    """
    settings = services.settings
    deadline = trio.current_time() + settings.response_timeout_s if deadline is None else deadline
    idempotency = _idempotency(request, content)
    waits = not answers_at_once(request, settings.respond_async and not insists)
    repetitions = 0
    while True:
        flush = not waits or deadline - trio.current_time() < FLUSHED_BY_ITSELF_S
        item = Append(command, DEFAULT_TENANT, key, idempotency, PARTITION, flush=flush)
        appended = await _append(services, item, deadline)
        if not appended.same_body:
            raise _key_was_used(appended.position)
        if not waits:
            return Submitted(appended, None)
        kept_from = 0.0 if flush or idempotency else trio.current_time() + FLUSHED_BY_ITSELF_S
        outcome = await _outcome(services, appended.position, deadline, kept_from, request)
        if outcome.rejection is None:
            return Submitted(appended, outcome)
        if idempotency is None or not _is_old_bug(appended, outcome.rejection) or repetitions == MAX_REPETITIONS:
            raise rejected(command, outcome.rejection, appended.position)
        # An error of ours is not replayed: nothing came of that command, and its client asks for another try. The key
        # of the next one is made of its position, so that several who try again at once still have one effect.
        idempotency = (f"{idempotency[0]} {appended.position}", idempotency[1])
        repetitions += 1


async def done(services: Services, command: Command, key: int) -> None:
    """Append a command of the API's own and wait for its outcome, whatever that is. Raises Problem as `submit`."""
    deadline = trio.current_time() + services.settings.response_timeout_s
    appended = await _append(services, Append(command, DEFAULT_TENANT, key, None, PARTITION), deadline)
    await _outcome(services, appended.position, deadline, trio.current_time() + FLUSHED_BY_ITSELF_S)


def answers_at_once(request: Request, default: bool) -> bool:
    """Whether the client wants its answer as soon as the command is durable (RFC 7240: Prefer: respond-async)."""
    if request.query_string:
        wait = request.query.get("wait")
        if wait is not None:
            return not request.flag("wait", True)
    prefer = request.header(b"prefer")
    if prefer is None:
        return default
    return any(preference.strip().lower() == "respond-async" for preference in re.split("[,;]", prefer))


def wait_limit_s(request: Request) -> float | None:
    """The query parameter `timeout` in seconds: 30s, 500ms, 2m; a bare number is milliseconds. Raises Problem 400."""
    text = request.query.get("timeout")
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if found is None:
        raise bad_request(f"Failed to convert 'timeout' with value: '{text[:100]}'")
    return int(found[1]) * _UNIT_MS[found[2]] / 1000


async def accepted(services: Services, appended: Appended) -> Response:
    """202: the command is durable, and where."""
    at_ms = appended.at_ms
    if at_ms is None:  # a replay: the time is the first one's
        async with services.pool.connection() as connection:
            first = await log.command(connection, appended.position)
        at_ms = 0 if first is None else first.appended_at_ms
    body = Accepted(str(appended.position), iso_time(at_ms))
    return json_response(body, position_header(appended.position), status=202)


async def _append(services: Services, item: Append, deadline: float) -> Appended:
    try:
        return await services.appender.append(item, deadline_s=deadline - trio.current_time())
    except NotAppended as error:
        raise not_appended(error) from error


async def _outcome(
    services: Services, position: int, deadline: float, kept_from: float, request: Request | None = None
) -> CommandOutcome:
    """What came of the command. `kept_from`: when it is certain that no crash takes it back (Trio's clock).

    Raises ClientLeft when nobody waits for the answer to `request` any more.
    """
    try:
        with services.completions.register(PARTITION, position) as waiter:
            with trio.move_on_at(min(deadline, trio.current_time() + UNWATCHED_S)):
                return await waiter.wait()
            with trio.move_on_at(deadline):
                return await (waiter.wait() if request is None else request.unless_left(waiter.wait))
    except Lost as error:
        raise not_appended(error) from error
    except NotAppended as error:
        # No room for another waiter. It is in the log, so this is no 503, which clients would repeat.
        raise _too_late(position, kept_from) from error
    raise _too_late(position, kept_from)


def _too_late(position: int, kept_from: float) -> Problem:
    """504. Its position is told as soon as the command is certain to stay there (the append may have taken long)."""
    return timed_out(position if trio.current_time() >= kept_from else None)


def timed_out(position: int | None, **members: object) -> Problem:
    """504: the command is in the log and will be done, but nobody knows yet what comes of it. None: it may be there."""
    return Problem(504, "DEADLINE_EXCEEDED", TIMED_OUT, position=position, members=members)


def _is_old_bug(appended: Appended, rejection: Rejection) -> bool:
    return appended.replayed and rejection.code is RejectionCode.PROCESSING_ERROR


# ------------------------------------------------------------------------------------------------ idempotency keys


def _idempotency(request: Request, content: bytes | None) -> tuple[str, bytes] | None:
    """The request's idempotency key and the fingerprint of what it asks for; None without one. Raises Problem 400."""
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    if IDEMPOTENCY_KEY.fullmatch(key) is None:
        raise bad_request("The header Idempotency-Key must be 1 to 255 visible ASCII characters")
    return key, _fingerprint(request, _canonical(request.body) if content is None else content)


def _fingerprint(request: Request, content: bytes) -> bytes:
    """SHA-256 of method, path, query and content, each with its length, so that none can pass for a part of another."""
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.path.encode(), request.query_string, content):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


def _canonical(body: bytes) -> bytes:
    """A JSON body without its spelling: other blanks or another order of properties are the same request."""
    if not body.strip():
        return b"{}"
    return _encode_sorted(any_decoder.decode(body))


def _key_was_used(position: int) -> Problem:
    """`position`: of the command that the key stands for."""
    return Problem(
        422,
        "IDEMPOTENCY_KEY_REUSED",
        "Expected to handle a request with the Idempotency-Key of an earlier one, but their contents differ",
        position=position,
    )
