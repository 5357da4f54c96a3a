"""All versions of the forms that a batch needs."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from vivero.core.state.catalogue import FormVersion
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import load

FORMS = load(Path(__file__).with_name("load.sql"))["forms"]


def call_for(named: Set[tuple[str, str]], keys: Set[int], deployments: Set[int]) -> Call:
    """The call for the forms of these tenants and ids, and for those of which a version has one of these keys, or is
    of one of these deployments."""
    pairs = sorted(named)
    return FORMS, ([tenant for tenant, _ in pairs], [id for _, id in pairs], sorted(keys), sorted(deployments))


def add(state: State, asked: Set[tuple[str, str]], rows: Iterable[tuple[Any, ...]]) -> None:
    """Add forms to the catalogue, also those `asked` that do not exist. Known ones stay: the state knows better."""
    fresh: dict[tuple[str, str], dict[int, FormVersion]] = {pair: {} for pair in asked}
    for form in (FormVersion(*row) for row in rows):
        pair = form.tenant, form.form_id
        if pair not in state.catalogue.form_versions:
            fresh.setdefault(pair, {})[form.version] = form
            state.catalogue.forms[form.key] = form
    state.catalogue.form_versions.update(fresh)
