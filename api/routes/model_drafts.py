"""Drafts of models, for all people of a tenant who may deploy there. Camunda's API has no such resource."""

from __future__ import annotations

from vivero.api.access import tenants
from vivero.api.access.audit import changing
from vivero.api.access.needs import DEPLOY
from vivero.api.commands.preconditions import entity_tag, expected_versions
from vivero.api.deployment.names import name_within
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, bad_request, invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response, no_content
from vivero.api.reading import conditions, read_of
from vivero.api.services import Services
from vivero.storage.access import model_drafts
from vivero.storage.access.model_drafts import SavedDraft
from vivero.storage.search.model_drafts import MODEL_DRAFTS

MAX_FILE_NAME = 200
"""Characters of the name of a draft's file."""
MAX_CONTENT = 1_000_000
"""Characters of a draft. Its body, in which some take more than one byte, has the limit of bodies without variables."""
MOST_DRAFTS = 200
"""Drafts of a tenant."""


class DraftBody(Body, frozen=True):
    name: str | None = None
    content: str | None = None
    tenant_id: str | None = None


class ChangedDraftBody(Body, frozen=True):
    name: str | None = None
    content: str | None = None


_decoder, _changed_decoder = decoder(DraftBody), decoder(ChangedDraftBody)


async def add(request: Request, services: Services) -> Response:
    """POST /v2/model-drafts {name, content, tenantId}: keep a draft. 201 with its key and version; 409 for too many.

    The content is not examined: a draft may be as wrong as it is while somebody edits it.
    """
    body = decode(request, _decoder, services.settings)
    name, content = _checked(body.name, body.content)
    tenant = tenants.named(request, services, body.tenant_id, "Save Draft", DEPLOY)
    author = request.caller.id
    async with changing(request, services) as connection:
        await tenants.keep_named(connection, tenant)
        saved = await model_drafts.add(connection, tenant, name, content, author, MOST_DRAFTS)
        if saved is None:
            detail = f"Tenant '{tenant}' has {MOST_DRAFTS} drafts, and cannot have more: delete some that nobody needs"
            raise Problem(409, "INVALID_STATE", detail)
    return _saved(saved, author, 201)


async def change(request: Request, services: Services) -> Response:
    """PUT /v2/model-drafts/{modelDraftKey} {name, content} with If-Match: 200 with the next version.

    400 without a version in If-Match; 412 if somebody else has changed the draft since.
    """
    key = request.key("modelDraftKey")
    body = decode(request, _changed_decoder, services.settings)
    name, content = _checked(body.name, body.content)
    versions = expected_versions(request)
    if versions is None:
        raise bad_request('A change of a draft needs the version that it changes, for example: If-Match: "7"')
    author, of = request.caller.id, conditions(request.tenants)
    async with changing(request, services) as connection:
        saved = await model_drafts.change(connection, key, versions, name, content, author, of)
        if saved is None:
            found = await model_drafts.find(connection, key, of)
            if found is None:
                raise not_found(MODEL_DRAFTS.name, key)
            detail = (
                f"'{found.updated_by}' has changed draft '{key}' at {iso_time(found.updated_at_ms)}: its version is"
                f" {found.version} now. Nothing has happened"
            )
            raise Problem(412, "PRECONDITION_FAILED", detail)
    return _saved(saved, author, 200)


async def get(request: Request, services: Services) -> Response:
    """GET /v2/model-drafts/{modelDraftKey}: a draft with its content; the version is its entity tag."""
    key = request.key("modelDraftKey")
    found = await read_of(services, request.tenants, lambda connection, of: model_drafts.get(connection, key, of))
    if found is None:
        raise not_found(MODEL_DRAFTS.name, key)
    document = {
        "modelDraftKey": str(found.key),
        "name": found.name,
        "content": found.content,
        "version": found.version,
        "tenantId": found.tenant,
        "createdBy": found.created_by,
        "creationDate": iso_time(found.created_at_ms),
        "updatedBy": found.updated_by,
        "lastUpdatedDate": iso_time(found.updated_at_ms),
    }
    return json_response(document, entity_tag(found.version))


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/model-drafts/{modelDraftKey}: delete a draft, whoever made it. 204."""
    key = request.key("modelDraftKey")
    async with changing(request, services) as connection:
        if not await model_drafts.delete(connection, key, conditions(request.tenants)):
            raise not_found(MODEL_DRAFTS.name, key)
    return no_content()


def _checked(name: str | None, content: str | None) -> tuple[str, str]:
    """The name of the file and the content. Raises Problem 400."""
    file, text = (name or "").strip(), content or ""
    found = Violations()
    found.require("name", file)
    found.longest("name", file, MAX_FILE_NAME)
    found.require("content", text)
    found.longest("content", text, MAX_CONTENT)
    found.check()
    if name_within(file) != file:
        raise invalid_argument(f"The name of a draft must be that of a file in no other folder, and '{file}' is not")
    return file, text


def _saved(saved: SavedDraft, author: str, status: int) -> Response:
    document = {
        "modelDraftKey": str(saved.key),
        "version": saved.version,
        "updatedBy": author,
        "lastUpdatedDate": iso_time(saved.updated_at_ms),
    }
    return json_response(document, entity_tag(saved.version), status=status)
