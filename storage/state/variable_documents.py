"""The documents that save variables, and the items of loops: of a new row, and of a changed one.

The documents of variables omit fields with their usual value, which `save.sql` fills in: reading JSON is a large part
of what a save costs PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.state.instance_tree import LoopItem, LoopResult, Variable
from vivero.storage.state.normal_form import normal_hash

Document = dict[str, Any]


class NewVariable(msgspec.Struct, omit_defaults=True, gc=False):
    key: int
    scope: int
    tenant: str
    name: str
    value: str
    instance: int | None = None
    root: int | None = None
    normal: str | None = None


def changed_loop_item(row: LoopItem) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def new_loop_item(row: LoopItem) -> Document:
    return changed_loop_item(row) | {"item": row.item}


def loop_result(row: LoopResult) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def changed_variable(row: Variable) -> Document:
    return {"key": row.key, "value": row.value, "normal": normal_hash(row.value)}


def new_variable(row: Variable) -> NewVariable:
    scope, instance = row.scope.key, row.scope.instance
    key, root, value = instance.key, instance.tree.key, row.value
    return NewVariable(
        row.key,
        scope,
        instance.tenant,
        row.name,
        value,
        None if key == scope else key,
        None if root == scope else root,
        normal_hash(value),
    )
