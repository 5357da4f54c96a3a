"""The statements for rows that elements wait for list the fields of the classes of these rows."""

from __future__ import annotations

import re
from typing import Annotated

import pytest

from tests import statements
from vivero.core.state.columns import Column
from vivero.core.state.instance_tree import UserTask
from vivero.storage.state import owners
from vivero.storage.state.tables import WAITS, WaitTable


@pytest.mark.parametrize("path", statements.FILES, ids=lambda path: path.name)
def test_statements_list_the_fields_of_rows(path):
    assert path.read_text(encoding="utf-8") == statements.rewritten(path), "make statements writes it"


class Reviewed(UserTask):
    reviewed_at: Annotated[int | None, Column(time=True, changes=True)] = None
    rank: Annotated[int, Column(stored="rank_", document="r")] = 0


REVIEWED = WaitTable("user_tasks", Reviewed, owners.of_element())


def test_a_new_field_is_in_each_statement(monkeypatch):
    """Column, value and name at birth, in a change, in an end by keys, and what is loaded."""
    monkeypatch.setattr(statements, "WAITS", [REVIEWED])
    monkeypatch.setattr(statements, "TABLES", [REVIEWED])
    monkeypatch.setattr(statements, "ENDED", {REVIEWED: {}})
    save, load = (statements.rewritten(path) for path in statements.FILES)
    assert save.count("from_epoch_ms(x.reviewed_at)") == 2
    assert save.count("reviewed_at bigint") == 2
    assert "x.r FROM" in " ".join(save.split())
    assert re.search(r"SET [^;]*reviewed_at = from_epoch_ms\(\$\d+\)[^;]*WHERE user_task_key = ANY", save)
    assert "to_epoch_ms(reviewed_at), rank_\nFROM user_tasks" in load


@pytest.mark.parametrize("table", WAITS, ids=lambda table: table.name)
def test_what_is_not_loaded_stands_last(table):
    """Loaded values make a row by their places."""
    own = [field for field in table.fields if field.is_own]
    assert [field.is_own for field in table.fields] == sorted(field.is_own for field in table.fields)
    for of_kind in ([field.column.loaded for field in own], [field.is_shown for field in own]):
        assert of_kind == sorted(of_kind, reverse=True)
