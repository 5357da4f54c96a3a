"""Drafts of models that can be searched, without their contents."""

from __future__ import annotations

from vivero.storage.search.fields import KEY, NUMBER, PLAIN, TEXT, TIME, Field, filtered
from vivero.storage.search.resources import Resource

MODEL_DRAFTS = Resource(
    "Model draft",
    "model_drafts d",
    "d.draft_key",
    (
        Field("modelDraftKey", "d.draft_key", KEY, PLAIN, sort=True),
        filtered("name", "d.name", TEXT, sort=True),
        Field("version", "d.version", NUMBER),
        filtered("tenantId", "d.tenant_id", TEXT),
        filtered("createdBy", "d.created_by", TEXT),
        Field("creationDate", "d.created_at", TIME, sort=True),
        filtered("updatedBy", "d.updated_by", TEXT),
        Field("lastUpdatedDate", "d.updated_at", TIME, sort=True),
    ),
)
