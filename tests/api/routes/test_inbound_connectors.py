"""Inbound connectors, page by page: those of the table, then webhooks."""

from types import SimpleNamespace

import pytest

from tests.api.rows import KEY
from vivero.engine.connectors.inbound.webhook_registry import Claim


class Registry:
    """Webhooks of two elements."""

    async def all(self):
        hooks = [SimpleNamespace(element_id=f"hook-{number}", type="x") for number in range(2)]
        return [Claim("<default>", "p", KEY, hook) for hook in hooks]


@pytest.fixture
def paged(rows, stored, make_client):
    for number in range(3):
        rows.put(
            "inbound_connectors", process_definition_key=KEY, element_id=f"wait-{number}", tenant_id="<default>",
            process_id="p", type="x", state="ACTIVE", waiting=1, events=0, errors=0, node="n",
            updated_at="2026-01-01T00:00:00Z",
        )  # fmt: skip
    webhooks = SimpleNamespace(registry=Registry())
    return make_client(pool=stored.reads.pool, webhooks=webhooks)


async def test_each_is_on_one_page_and_all_are_counted(paged):
    pages = []
    for first in (0, 2, 4, 6):
        page = (await paged("GET", f"/inbound-connectors?limit=2&from={first}")).json
        assert page["page"] == {"totalItems": 5}
        pages.append([item["elementId"] for item in page["items"]])
    assert pages == [["wait-0", "wait-1"], ["wait-2", "hook-0"], ["hook-1"], []]


@pytest.mark.parametrize("query", ["limit=0", "limit=10001", "from=-1", "from=x"])
async def test_a_page_that_cannot_be_is_told(client, query):
    answer = await client("GET", f"/inbound-connectors?{query}")
    assert (answer.status, query.split("=")[0] in answer.json["detail"]) == (400, True)
