"""Process instances: create (and await), read, search, cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import trio

from vivero.api.access import audit, tenants
from vivero.api.access.needs import CREATE_INSTANCE, READ_INSTANCE
from vivero.api.access.scopes import require, require_by_key, require_process
from vivero.api.admission.waits import Wait
from vivero.api.commands import dry_runs, submission
from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.commands.submission import Submitted
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import (
    Body,
    Int32,
    Int64,
    Key,
    Violations,
    as_int64,
    as_key,
    check_reference,
    decode_optional,
    decoder,
)
from vivero.api.http.problems import Problem, archive_away, not_found
from vivero.api.http.request import UNWATCHED_S, Request
from vivero.api.http.response import Response, encode, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.routes import business_ids
from vivero.api.search.exports import exporting
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import TAG, TAGS
from vivero.core.records.base import Variables
from vivero.core.records.instances import CancelInstance, CreateInstance, InstanceReply
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.outcomes.replies import received
from vivero.engine.outcomes.waiters import InstanceEnd
from vivero.storage.postgres.errors import Outage, Retry
from vivero.storage.reads import single_reads
from vivero.storage.reads.single_reads import StoredAnswer
from vivero.storage.retention import archives, history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.search.process_instances import PROCESS_INSTANCES

get = getting(PROCESS_INSTANCES, "processInstanceKey")
search = searching(PROCESS_INSTANCES)
export = exporting(PROCESS_INSTANCES, "process-instances", "processInstanceKey")

MAX_ID = 1000
MAX_START = 100
MAX_FETCHED = 1000
RETRY_S = 0.2
TERMINATE = "TERMINATE_PROCESS_INSTANCE"
HOW_TO_WAIT = frozenset({"awaitCompletion", "requestTimeout", "fetchVariables"})
"""Properties of a creation that say how to wait for its end, and what of it to answer."""


class StartInstruction(Body, frozen=True):
    element_id: str | None = None


class RuntimeInstruction(Body, frozen=True):
    type: str | None = None
    after_element_id: str | None = None


class InstanceCreationBody(Body, frozen=True):
    process_definition_id: str | None = None
    process_definition_key: Key | None = None
    process_definition_version: Int32 | None = None
    process_definition_version_tag: str | None = None
    variables: dict[str, Any] | None = None
    tenant_id: str | None = None
    operation_reference: Int64 | None = None
    start_instructions: tuple[StartInstruction, ...] | None = None
    runtime_instructions: tuple[RuntimeInstruction, ...] | None = None
    await_completion: bool | None = None
    fetch_variables: list[str] | None = None
    request_timeout: Int64 | None = None
    tags: tuple[str, ...] | None = None
    business_id: str | None = None


class ReferenceBody(Body, frozen=True):
    """The body of a cancellation or a deletion."""

    operation_reference: Int64 | None = None


class Created(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer to a creation."""

    process_definition_id: str
    process_definition_version: int
    tenant_id: str
    variables: msgspec.Raw
    process_definition_key: str
    process_instance_key: str
    tags: tuple[str, ...]
    business_id: str | None
    command_position: str


_creation_decoder = decoder(InstanceCreationBody)
_reference_decoder = decoder(ReferenceBody)
_reply_decoder = msgspec.json.Decoder(InstanceReply)
_encode = msgspec.json.Encoder().encode
_NO_VARIABLES = msgspec.Raw(b"{}")


async def create(request: Request, services: Services) -> Response:
    """POST /v2/process-instances: start a process. With awaitCompletion or ?wait=true, answer at its end."""
    settings = services.settings
    body = await body_of(request, services, _creation_decoder)
    _check(body)
    tenant = tenants.named(request, services, body.tenant_id, "Create Process Instance", CREATE_INSTANCE)
    check_reference(body.operation_reference)
    awaits = body.await_completion or (bool(request.query_string) and request.flag("wait", False))
    command = _command(body, variables_of(services, body.variables), awaits)
    if request.allowed is not None:
        await _restrict(request, services, command)
    deadline = trio.current_time() + (_limit_s(request, body, services) if awaits else settings.response_timeout_s)
    if not awaits:
        submitted = await submission.submit(
            request, services, command, tenant=tenant, deadline=deadline, not_compared=HOW_TO_WAIT
        )
        if submitted.outcome is None:
            return await submission.accepted(services, submitted.appended)
        return _created(submitted.outcome.reply_by(_reply_decoder), _NO_VARIABLES, submitted)
    with services.commands.waits.for_an_instance(request.owner) as wait:
        submitted = await submission.submit(
            request, services, command, tenant=tenant, deadline=deadline, needs_outcome=True, not_compared=HOW_TO_WAIT
        )
        names = body.fetch_variables
        del body, command  # they may be large, and the wait may be long
        return await _awaited(request, services, submitted, names, deadline, wait)


def _command(body: InstanceCreationBody, variables: Variables, awaits: bool) -> CreateInstance:
    return CreateInstance(
        body.process_definition_id,
        as_key(body.process_definition_key, "processDefinitionKey"),
        -1 if body.process_definition_version is None else body.process_definition_version,
        variables,
        body.tags or (),
        body.business_id,
        awaits,
        tuple([instruction.element_id or "" for instruction in body.start_instructions or ()]),
        tuple([instruction.after_element_id or "" for instruction in body.runtime_instructions or ()]),
        body.process_definition_version_tag,
    )


async def _restrict(request: Request, services: Services, command: CreateInstance) -> None:
    if command.definition_key is None:
        require(request, CREATE_INSTANCE, command.process_id)
    else:
        await require_process(request, services, CREATE_INSTANCE, command.definition_key)


async def _awaited(
    request: Request, services: Services, submitted: Submitted, names: list[str] | None, deadline: float, wait: Wait
) -> Response:
    """The answer at the end of the instance."""
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    reply = submitted.outcome.reply_by(_reply_decoder)
    try:
        result = await _end(request, services, reply.process_instance_key, names, deadline, wait)
    except Overloaded:  # too many requests wait, but the instance exists, so the client must not repeat the request
        result = None
    if result is None:
        raise submission.timed_out(submitted.appended.position, processInstanceKey=str(reply.process_instance_key))
    if result.state != "COMPLETED":
        raise _terminated(reply.process_instance_key, submitted)
    return _created(reply, msgspec.Raw(result.variables), submitted)


def _check(body: InstanceCreationBody) -> None:
    found = Violations()
    both = "[processDefinitionId, processDefinitionKey]"
    if not body.process_definition_id and body.process_definition_key is None:
        found.add(f"At least one of {both} is required")
    elif body.process_definition_id and body.process_definition_key is not None:
        found.add(f"Only one of {both} is allowed")
    found.longest("processDefinitionId", body.process_definition_id, MAX_ID)
    _check_version_tag(body, found)
    if body.start_instructions:
        _check_start(body.start_instructions, found)
    if body.runtime_instructions:
        _check_run(body.runtime_instructions, found)
    business_ids.check(found, body.business_id)
    if body.fetch_variables and len(body.fetch_variables) > MAX_FETCHED:
        found.add(f"The provided fetchVariables are more than {MAX_FETCHED}")
    if body.tags:
        _check_tags(body.tags, found)
    found.check()


def _check_version_tag(body: InstanceCreationBody, found: Violations) -> None:
    if body.process_definition_version_tag is None:
        return
    found.require("processDefinitionVersionTag", body.process_definition_version_tag)
    found.longest("processDefinitionVersionTag", body.process_definition_version_tag, MAX_ID)
    if body.process_definition_key is not None:
        found.add("Only one of [processDefinitionKey, processDefinitionVersionTag] is allowed")
    if body.process_definition_version not in (None, -1):
        found.add("Only one of [processDefinitionVersion, processDefinitionVersionTag] is allowed")


def _check_start(instructions: tuple[StartInstruction, ...], found: Violations) -> None:
    if len(instructions) > MAX_START:
        found.add(f"The provided startInstructions are {len(instructions)} but must not be more than {MAX_START}")
    if not all(instruction.element_id for instruction in instructions):
        found.add("No elementId provided")


def _check_run(instructions: tuple[RuntimeInstruction, ...], found: Violations) -> None:
    if len(instructions) > MAX_START:
        found.add(f"The provided runtimeInstructions are {len(instructions)} but must not be more than {MAX_START}")
    if not all(instruction.after_element_id for instruction in instructions):
        found.add("No afterElementId provided")
    if unknown := [i.type for i in instructions if i.type is not None and i.type.upper() != TERMINATE]:
        found.add(
            f"Unexpected value '{unknown[0][:100]}' for enum field 'type'. "
            f"Use any of the following values: [{TERMINATE}]"
        )


def _check_tags(tags: tuple[str, ...], found: Violations) -> None:
    if len(tags) > TAGS:
        found.add(f"The provided tags are {len(tags)} but must not be more than {TAGS}")
    if len(set(tags)) < len(tags):
        found.add("The provided tags must be unique")
    if wrong := [tag for tag in tags if not TAG.fullmatch(tag)]:
        found.add(
            f"The tag '{wrong[0][:100]}' is not allowed: a tag starts with a letter, followed by up to 99 letters,"
            " digits, underscores, minuses, colons or periods"
        )


def _limit_s(request: Request, body: InstanceCreationBody, services: Services) -> float:
    """The time to wait for the end of the instance."""
    requested_s = submission.wait_limit_s(request)
    if not requested_s:
        requested_s = (as_int64(body.request_timeout, "requestTimeout") or 0) / 1000
    settings = services.settings
    return min(requested_s, settings.max_wait_s) if requested_s > 0 else settings.response_timeout_s


async def _end(
    request: Request, services: Services, key: int, names: list[str] | None, deadline: float, wait: Wait
) -> StoredAnswer | None:
    """The end of the instance; None at the deadline, when the program stops, and when another client needs the place.

    The waiter is registered before the state is read, so that an end in between is not missed. A database outage only
    delays the answer. Most instances end in the batch that creates them, and their end is known without a read.
    """
    send, ends = trio.open_memory_channel[InstanceEnd](1)
    with ends, services.commands.completions.register_end(key, send), trio.move_on_at(deadline) as scope:
        wait.leave = scope.cancel
        end = received(ends)
        while True:
            if end is not None and end.variables is not None:
                return _result(end.state, end.variables, names)
            try:
                result = await read_of(
                    services,
                    request.tenants,
                    lambda connection, tenants: single_reads.result(connection, key, names or None, tenants),
                )
            except (Outage, Retry):
                await trio.sleep(RETRY_S)
                end = end or received(ends)
                continue
            if result is not None:
                return result
            try:
                end = await _next_end(request, ends)
            except trio.EndOfChannel:  # the program stops
                return None
    return None


async def _next_end(request: Request, ends: trio.MemoryReceiveChannel[InstanceEnd]) -> InstanceEnd:
    """Wait for the end, first without a watch for the client's disconnect, then with it. Raises ClientLeft."""
    with trio.move_on_after(UNWATCHED_S):
        return await ends.receive()
    await request.release_body()
    return await request.unless_left(ends.receive)


def _result(state: str, variables: Mapping[str, str], names: list[str] | None) -> StoredAnswer:
    chosen = sorted(variables.keys() if not names else variables.keys() & set(names))
    return StoredAnswer(
        state, b"{%s}" % b",".join(b"%s:%s" % (_encode(name), variables[name].encode()) for name in chosen)
    )


def _created(reply: InstanceReply, variables: msgspec.Raw, submitted: Submitted) -> Response:
    document = Created(
        reply.process_definition_id,
        reply.process_definition_version,
        reply.tenant_id,
        variables,
        str(reply.process_definition_key),
        str(reply.process_instance_key),
        reply.tags,
        reply.business_id,
        str(submitted.appended.position),
    )
    return json_response(document, submitted.position)


def _terminated(key: int, submitted: Submitted) -> Problem:
    reason = f"Expected process instance with key '{key}' to complete, but it was terminated"
    return Problem(
        409,
        "INVALID_STATE",
        f"Command 'CREATE' rejected with code 'INVALID_STATE': {reason}",
        position=submitted.appended.position,
        members={"processInstanceKey": str(key)},
    )


async def cancel(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/cancellation: cancel an instance and everything in it."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _reference_decoder, services.settings)
    check_reference(body.operation_reference)
    return await submit_or_try(request, services, CancelInstance(key), key)


async def delete(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/deletion: delete an ended instance with everything that belongs to it.

    The answer follows after the deletion, so that later reads find nothing. With `dryRun` it says what would happen.
    """
    key = request.key("processInstanceKey")
    body = decode_optional(request, _reference_decoder, services.settings)
    check_reference(body.operation_reference)
    root = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.root_of_instance(connection, key, tenants)
    )
    if root is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    if dry_runs.is_asked(request):
        return await _foresee_deletion(request, services, key, root)
    await _archive(services, key, root)
    async with audit.changing(request, services) as connection:
        verdict = (await history.delete_trees(connection, [key], history.REQUEST))[key]
        if verdict == history.UNKNOWN:  # another request was faster
            raise not_found(PROCESS_INSTANCES.name, key)
        if verdict != history.DELETED:
            raise Problem(409, "INVALID_STATE", history.why_not(key, root, verdict))
    return no_content()


async def _foresee_deletion(request: Request, services: Services, key: int, root: int) -> Response:
    """The effect that the deletion would have now (Vivero only). Nothing is archived."""
    request.audited = None  # it is no attempt to change anything
    await require_by_key(request, services, READ_INSTANCE)
    verdict, instances = history.CALLED, 0
    if key == root:
        async with services.reads.pool.connection() as connection:
            verdict, instances = await history.foresee_tree(connection, root)
    if verdict == history.UNKNOWN:
        raise not_found(PROCESS_INSTANCES.name, key)
    if verdict == history.DELETED:
        return json_response(encode({"processInstanceCount": instances, "problems": [], "refusal": None}))
    problem = {"message": history.why_not(key, root, verdict), "elementId": None}
    refusal = {"status": 409, "title": "INVALID_STATE"}
    return json_response(encode({"processInstanceCount": 0, "problems": [problem], "refusal": refusal}))


async def _archive(services: Services, key: int, root: int) -> None:
    """Write the instance to the archive, if there is one for deletions by hand."""
    if services.files.archive is None or not services.files.archive_deletions:
        async with services.reads.pool.connection() as connection:
            await archives.let_go(connection, [key])
        return
    try:
        if await services.files.archive.before_deletion([key]):
            return
    except ArchiveProblem as problem:
        raise archive_away(problem) from problem
    async with services.reads.pool.connection() as connection:
        verdict = (await archives.not_archived(connection, [key]))[key]
    if verdict == history.UNKNOWN:
        raise not_found(PROCESS_INSTANCES.name, key)
    raise Problem(409, "INVALID_STATE", history.why_not(key, root, verdict))
