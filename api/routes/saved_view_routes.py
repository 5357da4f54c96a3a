"""The routes of saved views."""

from __future__ import annotations

from vivero.api.access.needs import ANY_CALLER
from vivero.api.callers import audited
from vivero.api.routes import saved_views
from vivero.api.routes.route import Route

SAVED_VIEW_ROUTES = (
    Route("POST", "/v2/saved-views", saved_views.save, ANY_CALLER, audited=audited.SAVE_VIEW),
    Route("POST", "/v2/saved-views/search", saved_views.search, ANY_CALLER),
    Route("DELETE", "/v2/saved-views/{savedViewKey}", saved_views.delete, ANY_CALLER, audited=audited.DELETE_VIEW),
)
"""Everybody has views of their own. The handlers check who may share, and what others see."""
