"""The generated files of the client say what the tables of the routes say, and type checkers see every public name."""

import ast

import pytest

import vivero.client
from tests import client_code
from tests.imports import ROOT

CLIENT = ROOT / "vivero" / "client"


def test_the_files_say_what_the_tables_say():
    made = client_code.generated()
    different = [name for name, text in made.items() if (CLIENT / name).read_text(encoding="utf-8") != text]
    assert different == [], "make statements"
    assert {f"records/{path.name}" for path in (CLIENT / "records").glob("*.py")} <= set(made) | {
        f"records/{name}" for name in client_code.BY_PEOPLE
    }


def test_a_search_without_a_method_is_seen(monkeypatch):
    client_code.searches.cache_clear()
    monkeypatch.delitem(client_code.SEARCHES, "/v2/timers")
    with pytest.raises(KeyError, match="/v2/timers: give this search a method"):
        client_code.searches()
    client_code.searches.cache_clear()


def test_what_is_left_out_is_served():
    assert set(client_code.LEFT_OUT) | set(client_code.SEARCHES) == set(client_code.paths())


def test_type_checkers_see_every_public_name():
    stub = ast.parse((CLIENT / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        node.module.removeprefix("vivero.client."): {name.name for name in node.names}
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert imported == {module: set(names) for module, names in vars(vivero.client)["NAMES"].items()}
    public = {name for names in imported.values() for name in names}
    assert all(getattr(vivero.client, name).__name__ == name for name in public)
    assert public <= set(dir(vivero.client))
    with pytest.raises(AttributeError, match=r"'vivero\.client' has no attribute 'Nonsense'"):
        vars(vivero.client)["__getattr__"]("Nonsense")
