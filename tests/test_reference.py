"""The reference of the public Python modules says what the code says, and each of their names has a text."""

from importlib import import_module

import pytest

from tests import connector_table, reference, tables
from tests.core.bpmn import specification


@pytest.mark.parametrize("module", reference.MODULES)
def test_a_page_says_what_the_code_says(module):
    assert reference.page_of(module).read_text(encoding="utf-8") == reference.text_of(module), "make reference"


def test_all_pages_are_written_from_the_code():
    generated = {tables.SETTINGS, specification.PAGE, connector_table.PAGE, *map(reference.page_of, reference.MODULES)}
    assert set(reference.FOLDER.iterdir()) == generated


@pytest.mark.parametrize("module", reference.MODULES)
def test_each_public_name_has_a_text(module):
    named = import_module(module)
    assert [name for name in named.__all__ if not (getattr(named, name).__doc__ or "").strip()] == []


def test_a_parameter_keeps_its_kind_and_its_default_is_a_value():
    """The constants of a module would say nothing to a reader."""
    text = reference.text_of("vivero.worker")
    assert "    address: str | None = None,\n    *,\n    client: Client | None = None,\n" in text
    assert "    concurrency: int = 32,\n" in text
    started = (
        "start(\n    process: str,\n    variables: object = None,\n    /,\n    *,\n    version: int | None = None,\n"
    )
    assert started in reference.text_of("vivero.client")
    assert "- `tags: list[str] = list()`\n" in text
    assert "- `ApiError`: the server refuses the request for jobs.\n- `NotVivero`:" in text
    assert "Worker.serve\n\n```python\nasync serve() -> None\n```\n" in text


def test_methods_of_a_base_that_is_not_public_stand_with_its_class():
    headings = set(reference.text_of("vivero.client").splitlines())
    for name in ("ViveroClient", "AsyncViveroClient"):
        methods = {method for method in dir(getattr(import_module("vivero.client"), name)) if method[0] != "_"}
        assert "publish" in methods
        assert {method for method in methods if f"### {name}.{method}" not in headings} == set()
