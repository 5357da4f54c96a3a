"""All versions of the forms, generic resources, decision requirements and decisions that a batch needs."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any, TypeVar

from vivero.core.state.catalogue import DecisionVersion, FormVersion, GenericResourceVersion, RequirementsVersion
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import Statement, load

_sql = load(Path(__file__).with_name("load.sql"))
FORMS, GENERIC_RESOURCES = _sql["forms"], _sql["generic_resources"]
REQUIREMENTS, DECISIONS = _sql["decision_requirements"], _sql["decision_definitions"]

Name = tuple[str, str]
"""A tenant and an id."""
Version = TypeVar("Version", FormVersion, GenericResourceVersion, RequirementsVersion, DecisionVersion)


def call_for(statement: Statement, named: Set[Name], keys: Set[int], containers: Set[int]) -> Call:
    """The call of a statement for what has these names, and for that of which a version has one of these keys, or
    belongs to one of these deployments, or decisions to one of these decision requirements."""
    pairs = sorted(named)
    return statement, ([tenant for tenant, _ in pairs], [id for _, id in pairs], sorted(keys), sorted(containers))


def add_forms(state: State, asked: Set[Name], rows: Iterable[tuple[Any, ...]]) -> None:
    """Add forms to the catalogue, also those `asked` that do not exist. Known ones stay: the state knows better."""
    forms = (FormVersion(*row) for row in rows)
    named = (((form.tenant, form.form_id), form) for form in forms)
    _add(asked, named, state.catalogue.form_versions, state.catalogue.forms)


def add_generic_resources(state: State, asked: Set[Name], rows: Iterable[tuple[Any, ...]]) -> None:
    """As `add_forms`."""
    resources = (GenericResourceVersion(*row) for row in rows)
    named = (((one.tenant, one.resource_id), one) for one in resources)
    _add(asked, named, state.catalogue.generic_resource_versions, state.catalogue.generic_resources)


def add_requirements(state: State, asked: Set[Name], rows: Iterable[tuple[Any, ...]]) -> None:
    """As `add_forms`."""
    all_requirements = (RequirementsVersion(*row) for row in rows)
    named = (((one.tenant, one.requirements_id), one) for one in all_requirements)
    _add(asked, named, state.catalogue.requirements_versions, state.catalogue.requirements)


def add_decisions(state: State, asked: Set[Name], rows: Iterable[tuple[Any, ...]]) -> None:
    """As `add_forms`."""
    columns = ([*start, tuple(imports), status, deployed_at] for *start, imports, status, deployed_at in rows)
    decisions = (DecisionVersion(*row) for row in columns)
    named = (((decision.tenant, decision.decision_id), decision) for decision in decisions)
    _add(asked, named, state.catalogue.decision_versions, state.catalogue.decisions)


def _add(
    asked: Set[Name],
    named: Iterable[tuple[Name, Version]],
    versions: dict[Name, dict[int, Version]],
    by_key: dict[int, Version],
) -> None:
    fresh: dict[Name, dict[int, Version]] = {name: {} for name in asked}
    for name, version in named:
        if name not in versions:
            fresh.setdefault(name, {})[version.version] = version
            by_key[version.key] = version
    versions.update(fresh)
