"""All versions of the decisions, and of decision requirements, that a batch needs."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from vivero.core.state.catalogue import DecisionVersion, DecisionVersions, RequirementsVersion, RequirementsVersions
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import load

_sql = load(Path(__file__).with_name("load.sql"))
REQUIREMENTS, DECISIONS = _sql["decision_requirements"], _sql["decision_definitions"]

Names = Set[tuple[str, str]]
"""Tenants and ids."""


def requirements_call(named: Names, keys: Set[int], deployments: Set[int]) -> Call:
    """The call for named decision requirements, and for those of which a version has one of these keys, or is of one of
    these deployments."""
    return REQUIREMENTS, (*_columns(named), sorted(keys), sorted(deployments))


def decisions_call(named: Names, keys: Set[int], requirements: Set[int]) -> Call:
    """The call for named decisions, and for those of which a version has one of these keys, or belongs to decision
    requirements with one of these keys."""
    return DECISIONS, (*_columns(named), sorted(keys), sorted(requirements))


def add_requirements(state: State, asked: Names, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add to the catalogue, also those `asked` that do not exist. Known ones stay: the state knows better."""
    catalogue = state.catalogue
    fresh: dict[tuple[str, str], RequirementsVersions] = {name: {} for name in asked}
    for row in (RequirementsVersion(*row) for row in rows):
        name = row.tenant, row.requirements_id
        if name not in catalogue.requirements_versions:
            fresh.setdefault(name, {})[row.version] = row
            catalogue.requirements[row.key] = row
    catalogue.requirements_versions.update(fresh)


def add_decisions(state: State, asked: Names, rows: Iterable[tuple[Any, ...]]) -> None:
    """As `add_requirements`."""
    catalogue = state.catalogue
    fresh: dict[tuple[str, str], DecisionVersions] = {name: {} for name in asked}
    for key, deployment, tenant, decision_id, version, name, tag, requirements, sha256, imports, *rest in rows:
        if (tenant, decision_id) not in catalogue.decision_versions:
            row = DecisionVersion(
                key, deployment, tenant, decision_id, version, name, tag, requirements, sha256, tuple(imports), *rest
            )
            fresh.setdefault((tenant, decision_id), {})[version] = row
            catalogue.decisions[key] = row
    catalogue.decision_versions.update(fresh)


def _columns(named: Names) -> tuple[list[str], list[str]]:
    pairs = sorted(named)
    return [tenant for tenant, _ in pairs], [id for _, id in pairs]
