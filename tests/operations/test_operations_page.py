"""The statements of docs/operations.md about connections and memory."""

import re

from tests.operations.tools import ROOT
from vivero.config import budget, sources
from vivero.config.sections import Config

PAGE = (ROOT / "docs" / "operations.md").read_text()
ROWS = {
    "all roles, one partition": {},
    "all roles, with tenants": {"VIVERO_TENANTS_ENABLED": "true"},
    "all roles, four partitions": {"VIVERO_PARTITIONS": "4"},
    "`api` alone": {"VIVERO_ROLES": "api"},
    "`engine,jobs`": {"VIVERO_ROLES": "engine,jobs"},
    "`jobs` alone": {"VIVERO_ROLES": "jobs"},
    "all roles, `database.pool_size = 4`": {"VIVERO_DATABASE_POOL_SIZE": "4"},
}


def test_the_table_of_connections_is_right():
    section = PAGE.partition("## Connections")[2].partition("\n## ")[0]
    said = {name: int(count) for name, count in re.findall(r"^\| (.+?) \| (\d+) \|$", section, re.MULTILINE)}
    assert said == {name: budget.connections(sources.load(environment=given)) for name, given in ROWS.items()}


def test_the_memory_is_right():
    assert f"up to {budget.memory_bytes(Config()) >> 20} MiB" in PAGE
