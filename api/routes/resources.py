"""Deployed resources: read and search generic resources, and delete whatever a deployment has made."""

from __future__ import annotations

from functools import partial

from vivero.api.access.needs import DELETE_DECISIONS, DELETE_FORM, DELETE_PROCESS, DELETE_RESOURCE
from vivero.api.access.scopes import require_by_key
from vivero.api.callers.permissions import Permission
from vivero.api.commands import submission
from vivero.api.http.decoding import Body, Int64, check_reference, decode_optional, decoder
from vivero.api.http.downloads import SAFE, disposition
from vivero.api.http.problems import Problem, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.routes import batch_operations
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.core.records.catalogue import DeleteResource
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import single_reads
from vivero.storage.reads.single_reads import StoredFile
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.search.decisions import DECISION_REQUIREMENTS
from vivero.storage.search.deployed_resources import FORMS, GENERIC_RESOURCES
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import process_of
from vivero.storage.work.batch_operations import DELETE_PROCESS_INSTANCE

RPA = ".rpa"
"""The end of the names of scripts of robots."""


class ResourceDeletionBody(Body, frozen=True):
    operation_reference: Int64 | None = None
    delete_history: bool | None = None


_deletion_decoder = decoder(ResourceDeletionBody)

get = getting(GENERIC_RESOURCES, "resourceKey")
search = searching(GENERIC_RESOURCES)


async def content(request: Request, services: Services) -> Response:
    """GET /v2/resources/{key}/content: a deployed script of robots, which is JSON; 406 for other files."""
    file = await _file(request, services)
    if not file.name.lower().endswith(RPA):
        raise Problem(
            406,
            "Not Acceptable",
            f"Only {RPA} files are served as JSON: /v2/resources/{file.key}/content/binary serves '{file.name}'",
        )
    return _download(file, b"application/json")


async def binary(request: Request, services: Services) -> Response:
    """GET /v2/resources/{key}/content/binary: the deployed file."""
    return _download(await _file(request, services), b"application/octet-stream")


async def _file(request: Request, services: Services) -> StoredFile:
    key = request.key("resourceKey")
    file = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.generic_resource(connection, key, tenants)
    )
    if file is None:
        raise not_found(GENERIC_RESOURCES.name, key)
    return file


def _download(file: StoredFile, content_type: bytes) -> Response:
    """The bytes as a file, with its name and without its folders. No browser shows it, whatever it is."""
    name = file.name.replace("\\", "/").rpartition("/")[2]
    return Response(200, file.content, ((b"content-type", content_type), disposition(name), *SAFE))


async def delete(request: Request, services: Services) -> Response:
    """POST /v2/resources/{key}/deletion.

    No new instances of a process start, and the definition is removed after its last instance. New tasks do not get a
    form, and new jobs no key of a generic resource. The permission depends on what the key belongs to. With
    `deleteHistory` a batch operation deletes the ended instances of the process.
    """
    key = request.key("resourceKey")
    await _check_permission(request, services, key)
    body = decode_optional(request, _deletion_decoder, services.settings)
    check_reference(body.operation_reference)
    batch = await _delete_history(request, services, key) if body.delete_history else None
    submitted = await submission.submit(request, services, DeleteResource(key), key)
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    document = {
        "resourceKey": str(key),
        "batchOperation": batch,
        "commandPosition": str(submitted.appended.position),
    }
    return json_response(document, submitted.position)


async def _delete_history(request: Request, services: Services, key: int) -> dict[str, str] | None:
    """Create the batch operation that deletes the ended instances of a definition; None for other resources.

    It comes before the deletion of the definition: a client that repeats a request that was interrupted misses nothing.
    """
    if await read_of(services, request.tenants, partial(_process_id, key)) is None:
        return None
    batch = await batch_operations.create_for(
        request,
        services,
        DELETE_PROCESS_INSTANCE,
        INSTANCES_PATH,
        {"processDefinitionKey": str(key)},
        is_subject=False,
    )
    return {"batchOperationKey": str(batch), "batchOperationType": DELETE_PROCESS_INSTANCE}


async def _check_permission(request: Request, services: Services, key: int) -> None:
    """Raise Problem 403 unless the caller may delete what has this key."""
    if any(request.caller.rights.ids(need) is not None for need in (DELETE_PROCESS, *(need for _, need in _OTHERS))):
        await require_by_key(request, services, await _need(request, services, key))


async def _need(request: Request, services: Services, key: int) -> Permission:
    for resource, need in _OTHERS:
        if await read_of(services, request.tenants, partial(_id_of, resource, key)) is not None:
            return need
    return DELETE_PROCESS


async def _process_id(key: int, connection: Connection, tenants: Tenants) -> str | None:
    """The id of the process whose definition has this key, None if there is none."""
    return await process_of(connection, PROCESS_DEFINITIONS, key, tenants)


async def _id_of(resource: Resource, key: int, connection: Connection, tenants: Tenants) -> str | None:
    """The id of the row of a resource with this key, None if there is none."""
    return await process_of(connection, resource, key, tenants)


_OTHERS = (
    (GENERIC_RESOURCES, DELETE_RESOURCE),
    (FORMS, DELETE_FORM),
    (DECISION_REQUIREMENTS, DELETE_DECISIONS),
)
"""Resources that can be deleted, other than processes, and the permission for each."""
