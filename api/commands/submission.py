"""The path of every command: append it, wait for its outcome, answer.

The command or its outcome is durable before the answer. The wait is separate from the append, so a handler that is
cancelled or runs out of time does not undo the command. Every answer contains the command's position in the log.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from functools import partial
from urllib.parse import unquote

import msgspec
import trio

from vivero.api.access import audit, tenants
from vivero.api.callers.caller import Caller
from vivero.api.commands import preconditions
from vivero.api.commands.outcome_waits import OutcomeWait
from vivero.api.computing.large_bodies import canonical_of
from vivero.api.http.decoding import LARGE_BYTES
from vivero.api.http.problems import TIMED_OUT, Problem, bad_request, not_appended, rejected
from vivero.api.http.request import UNWATCHED_S, Request
from vivero.api.http.response import Header, Response, iso_time, json_response, no_content, position_header
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.core.records.base import Command
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.engine.appender.calls import Append
from vivero.engine.outcomes.admission import Lost, NotAppended
from vivero.engine.outcomes.replies import Reply, reply_by
from vivero.engine.tracing.current import POSITION
from vivero.storage.log import command_log
from vivero.storage.log.command_log import Appended, CommandOutcome

IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
MAX_REPETITIONS = 1_000
NAMED_BY_POSITION = 10
"""The first repetitions of a command have keys that contain the positions before them, and later ones their number."""
_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m)")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000}
HOW_TO_WAIT = frozenset({"wait", "timeout"})
"""Parameters of the query that say how to wait, and not what to do."""

WAL_WRITER_S = 2.0
"""After this time PostgreSQL has flushed commits that did not request a flush (three times wal_writer_delay, by default
0.6 s). Before it, a crash may lose the command, so an answer without its outcome must not contain its position."""


class Accepted(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer to a client that does not wait for the outcome: the command is durable."""

    command_position: str
    timestamp: str


class Submitted(msgspec.Struct, frozen=True, gc=False):
    """A command that is in the log and not rejected. `outcome` is None if the client does not wait for it."""

    appended: Appended
    outcome: CommandOutcome | None

    @property
    def position(self) -> Header:
        return position_header(self.appended.position)


async def command(
    request: Request, services: Services, command: Command, key: int | None = None, *, content: bytes | None = None
) -> Response:
    """Submit a command whose answer has no content. With If-Match it is conditional on the version of its tree."""
    if key is not None and command.changes_tree:
        command = preconditions.as_expected(request, command, key)
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
    tenant: str | None = None,
    deadline: float | None = None,
    needs_outcome: bool = False,
    not_compared: Collection[str] = (),
) -> Submitted:
    """Append a command and wait for its outcome until `deadline` (Trio's clock), unless the client does not wait.

    `key` is the command's subject, for display. `tenant` is that which the request names; without one, the command may
    touch all tenants of the caller. `content` replaces the body in the fingerprint of an idempotent request, and
    `not_compared` are properties of the body that do not belong to it. `needs_outcome`: the server's default
    `respond_async` does not apply. Raises Problem if the command is not appended, is rejected, or takes too long.
    """
    settings = services.settings
    deadline = trio.current_time() + settings.response_timeout_s if deadline is None else deadline
    idempotency = None
    if b"idempotency-key" in request.fields:
        idempotency = await idempotency_of(request, services, content, not_compared)
    tenant = tenants.of_key(request, services) if tenant is None else tenant
    waits = not responds_async(request, settings.respond_async and not needs_outcome)
    repetitions, original = 0, ""
    while True:
        submitted = await _attempt(request, services, command, tenant, key, idempotency, deadline, waits)
        appended, outcome = submitted.appended, submitted.outcome
        if outcome is None or outcome.rejection is None:
            return submitted
        if idempotency is None or not _is_repeated(appended, outcome.rejection) or repetitions == MAX_REPETITIONS:
            raise rejected(command, outcome.rejection, appended.position)
        # A processing error, or a lack of room, is not replayed: that command had no effect, and its client retries.
        # The key of the next command follows from this one, so that concurrent retries have one effect together.
        if not repetitions:
            original = f"{idempotency[0]} {appended.position}"
        repetitions += 1
        if repetitions == NAMED_BY_POSITION + 1:
            repetitions = await _latest_repetition(services, tenant, original)
        following = f"{idempotency[0]} {appended.position}"
        if repetitions > NAMED_BY_POSITION:
            following = _numbered(original, repetitions)
        idempotency = following, idempotency[1]


async def _latest_repetition(services: Services, tenant: str, original: str) -> int:
    """The number of the latest repetition with a numbered key, or of the first one, if there is none."""
    keys = [_numbered(original, number) for number in range(NAMED_BY_POSITION + 1, MAX_REPETITIONS + 1)]
    known = await read(services, lambda connection: command_log.known_keys(connection, tenant, keys))
    return NAMED_BY_POSITION + max(1, known)


def _numbered(original: str, repetition: int) -> str:
    """The key of a repetition. A client's own keys have no spaces."""
    return f"{original} repetition {repetition}"


async def _attempt(
    request: Request,
    services: Services,
    command: Command,
    tenant: str,
    key: int | None,
    idempotency: tuple[str, bytes] | None,
    deadline: float,
    waits: bool,
) -> Submitted:
    """Append a command once, and wait for its outcome, which may be a rejection. Raises Problem."""
    now = trio.current_time()
    flush = not waits or deadline - now < WAL_WRITER_S
    partition = await services.commands.routing.partition_of(command, tenant, services.reads.pool.connection, now)
    if services.commands.redirects is not None:
        services.commands.redirects.check(request, partition, anywhere=isinstance(command, CreateInstance))
    record = audit.of_command(request)
    item = Append(command, tenant, key, idempotency, partition, audit=record, flush=flush)
    if len(request.body) < LARGE_BYTES:
        return await _submitted(services, item, deadline, waits, request)
    async with services.commands.large_commands.turn(len(request.body), deadline, request.unless_left):
        return await _submitted(services, item, deadline, waits, request)


async def _submitted(
    services: Services, item: Append, deadline: float, waits: bool, request: Request | None = None
) -> Submitted:
    """Append a command, and wait for any outcome if `waits`. Raises Problem, and ClientLeft if the client of `request`
    disconnects."""
    with _begin(services, item, waits) as wait:
        pending, reply = wait.pending, None
        if waits and pending.queued:
            soon = min(deadline, pending.since + UNWATCHED_S, pending.patience_until)
            reply = await wait.receive(services.commands.deadlines, soon)
        appended = await _appended(services, wait, deadline) if reply is None else _place(reply)
        POSITION.set(appended.position)
        if not appended.same_body:
            raise key_was_used(appended.position)
        outcome = None if reply is None else reply.outcome
        if waits and outcome is None:
            durable_at = 0.0 if item.flush or item.idempotency else pending.appended_at + WAL_WRITER_S
            outcome = await _outcome(services, wait, appended, deadline, durable_at, request)
        return Submitted(appended, outcome)


async def submit_internal(services: Services, command: Command, tenant: str, key: int) -> None:
    """Append a command that the API itself creates and wait for any outcome. Raises Problem like `submit`."""
    now = trio.current_time()
    deadline = now + services.settings.response_timeout_s
    partition = await services.commands.routing.partition_of(command, tenant, services.reads.pool.connection, now)
    await _submitted(services, Append(command, tenant, key, None, partition), deadline, waits=True)


def responds_async(request: Request, default: bool) -> bool:
    """True if the client wants the answer as soon as the command is durable (RFC 7240: Prefer: respond-async)."""
    if request.query_string:
        wait = request.query.get("wait")
        if wait is not None:
            return not request.flag("wait", True)
    prefer = request.header(b"prefer")
    if prefer is None:
        return default
    return any(preference.strip().lower() == "respond-async" for preference in re.split("[,;]", prefer))


def wait_limit_s(request: Request) -> float | None:
    """The query parameter `timeout` in seconds: 30s, 500ms or 2m. Raises Problem 400."""
    text = request.query.get("timeout")
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if found is None:
        raise bad_request(
            f"Failed to convert 'timeout' with value: '{text[:100]}'. Expected a number with a unit: 30s, 500ms or 2m"
        )
    return int(found[1]) * _UNIT_MS[found[2]] / 1000


async def accepted(services: Services, appended: Appended) -> Response:
    """202: the command is durable at a position of the log."""
    at_ms = appended.at_ms
    if at_ms is None:  # a replay, which has the first command's time
        async with services.reads.pool.connection() as connection:
            first = await command_log.command(connection, appended.position)
        at_ms = 0 if first is None else first.appended_at_ms
    body = Accepted(str(appended.position), iso_time(at_ms))
    return json_response(body, position_header(appended.position), status=202)


def _begin(services: Services, item: Append, waits: bool) -> OutcomeWait:
    try:
        return OutcomeWait(
            services.commands.replies,
            services.commands.appender,
            item,
            services.commands.completions if waits else None,
        )
    except NotAppended as error:
        raise not_appended(error) from error


def _place(reply: Reply) -> Appended:
    try:
        return reply.place
    except NotAppended as error:
        raise not_appended(error) from error


async def _appended(services: Services, wait: OutcomeWait, deadline: float) -> Appended:
    appended = wait.place()
    if appended is not None:
        return appended
    try:
        return await services.commands.appender.finish_append(wait.pending, wait.replies, deadline)
    except NotAppended as error:
        raise not_appended(error) from error


async def _outcome(
    services: Services,
    wait: OutcomeWait,
    appended: Appended,
    deadline: float,
    durable_at: float,
    request: Request | None,
) -> CommandOutcome:
    """The outcome of a command. `durable_at`: the time of Trio's clock after which no crash loses the command."""
    try:
        wait.register(services.commands.completions, appended)
    except NotAppended as error:
        # There are too many waiters. Clients would repeat a 503, but the command is in the log.
        raise _too_late(appended.position, durable_at) from error
    reply = await reply_by(wait.replies, min(deadline, trio.current_time() + UNWATCHED_S))
    if reply is None:
        watched = partial(reply_by, wait.replies, deadline)
        reply = await (watched() if request is None else request.unless_left(watched))
    if reply is None:
        raise _too_late(appended.position, durable_at)
    try:
        return reply.answer
    except Lost as error:
        raise not_appended(error) from error


def _too_late(position: int, durable_at: float) -> Problem:
    """504, with the position if the command is certain to stay there. The append may have taken long."""
    return timed_out(position if trio.current_time() >= durable_at else None)


def timed_out(position: int | None, **members: object) -> Problem:
    """504: the command is in the log and will be processed later. `position` None: the command may be in the log."""
    return Problem(504, "DEADLINE_EXCEEDED", TIMED_OUT, position=position, members=members)


def _is_repeated(appended: Appended, rejection: Rejection) -> bool:
    return appended.replayed and rejection.code in (RejectionCode.PROCESSING_ERROR, RejectionCode.RESOURCE_EXHAUSTED)


# ------------------------------------------------------------------------------------------------ idempotency keys


async def idempotency_of(
    request: Request, services: Services, content: bytes | None, not_compared: Collection[str] = ()
) -> tuple[str, bytes] | None:
    """The request's idempotency key and the fingerprint of its content; None without a key. Raises Problem 400.

    With authentication the key is the caller's own. The log keeps keys by tenant, too.
    """
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    if IDEMPOTENCY_KEY.fullmatch(key) is None:
        raise bad_request("The header Idempotency-Key must be 1 to 255 visible ASCII characters")
    if services.access.authenticator is not None:
        key = f"{_of_caller(request.caller)} {key}"
    if content is None:
        content = await canonical_of(request.body, services, not_compared)
    return key, _fingerprint(request, content)


def _of_caller(caller: Caller) -> str:
    """A text that no other caller has, so that nobody gets the answer to a request of another one."""
    return hashlib.blake2b(f"{caller.kind}\0{caller.id}".encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _fingerprint(request: Request, content: bytes) -> bytes:
    """SHA-256 of method, path, query and content, each with its length, so that the parts cannot be confused.

    How to wait is left out: a client may repeat a request and wait longer, or not at all.
    """
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.path.encode(), _without_waits(request.query_string), content):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


def _without_waits(query: bytes) -> bytes:
    """A query without its parameters that say how to wait. The others keep their bytes."""
    if not query:
        return query
    parts = (part for part in query.split(b"&") if unquote(part.partition(b"=")[0]) not in HOW_TO_WAIT)
    return b"&".join(parts)


def key_was_used(position: int | None) -> Problem:
    """422. `position` is that of the first command with the key; None if the first request was not a command."""
    return Problem(
        422,
        "IDEMPOTENCY_KEY_REUSED",
        "Expected to handle a request with the Idempotency-Key of an earlier one, but their contents differ",
        position=position,
    )
