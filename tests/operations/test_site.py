"""The site of the documentation has every page once, and no link that leads out of it. `make docs` makes it."""

import importlib.util
import re
from collections import Counter
from pathlib import PurePosixPath

import pytest

from tests.operations.tools import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_conf", DOCS / "site" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(text, folder=""):
    trees = re.findall(r"```\{toctree\}\n:hidden:\n(?::caption: [^\n]*\n)?\n(.*?)\n```", text, re.DOTALL)
    return [f"{folder}{page}" for tree in trees for page in tree.splitlines()]


def test_every_page_is_in_one_table_of_contents(site):
    found = listed(site.contents((DOCS / "README.md").read_text()))
    for readme in DOCS.rglob("README.md"):
        if readme.parent != DOCS:
            folder = PurePosixPath(readme.parent.relative_to(DOCS))
            found += listed(site.toctree("", site.others(folder)), f"{folder}/")
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")} - {"README"}
    assert [page for page, times in Counter(found).items() if times > 1] == []
    assert set(found) == pages


def test_links_out_of_the_pages_become_texts(site):
    source = [
        "[a](cli.md#the-server) [b](../README.md) [`c`](../tests/conftest.py) [d](https://e.example/f) ![g](../h.png)"
    ]
    site.read(None, "client", source)
    assert source == [
        "[a](cli.md#the-server) b (`README.md` in the repository) `c` (`tests/conftest.py` in the repository)"
        " [d](https://e.example/f) ![g](../h.png)"
    ]
