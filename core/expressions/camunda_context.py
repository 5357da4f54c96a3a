"""The context `camunda` of expressions: cluster variables, and the process instance that evaluates.

It is no variable: a process variable `camunda` hides it. It is read at the evaluation. Events have the results, so
replay depends on nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

CAMUNDA = "camunda"
"""Its name."""


class ExpressionContext(NamedTuple):
    """Cluster variables as two JSON objects, and the process instance, if there is one."""

    of_cluster: bytes
    of_tenant: bytes
    key: int | None = None
    business_id: str | None = None


def variables_seen(of_cluster: dict[str, Any], of_tenant: dict[str, Any]) -> dict[str, Any]:
    """`camunda.vars`: a tenant's value replaces the cluster's as a whole."""
    return {"cluster": of_cluster, "tenant": of_tenant, "env": of_cluster | of_tenant}


def context(variables: Mapping[str, Any], key: int | None = None, business_id: str | None = None) -> dict[str, Any]:
    """The whole context. `variables` is `camunda.vars`; the others are null where no process instance evaluates."""
    return {"vars": variables, "processInstance": {"key": key, "businessId": business_id}}
