"""The routes of drafts of models. Those who may deploy see, change and delete all of a tenant."""

from __future__ import annotations

from vivero.api.access.needs import DEPLOY
from vivero.api.callers import audited
from vivero.api.routes import model_drafts
from vivero.api.routes.route import Route
from vivero.api.search.search_requests import searching
from vivero.storage.search.model_drafts import MODEL_DRAFTS

_PATH = "/v2/model-drafts"
_ONE = f"{_PATH}/{{modelDraftKey}}"
MODEL_DRAFT_ROUTES = (
    Route("POST", _PATH, model_drafts.add, DEPLOY, audited=audited.SAVE_DRAFT),
    Route("POST", f"{_PATH}/search", searching(MODEL_DRAFTS), DEPLOY),
    Route("GET", _ONE, model_drafts.get, DEPLOY),
    Route("PUT", _ONE, model_drafts.change, DEPLOY, audited=audited.SAVE_DRAFT, is_conditional=True),
    Route("DELETE", _ONE, model_drafts.delete, DEPLOY, audited=audited.DELETE_DRAFT),
)
