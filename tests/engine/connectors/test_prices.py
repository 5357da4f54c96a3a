"""The operator's file of prices, and the cost of calls by it."""

import pytest

from vivero.core.agents.memory.context import TokenUsage
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents.price_files import BadPrices, read_prices

FILE = """
currency = "USD"
[models."gpt-5-mini*"]
input = 0.25
output = 2
cache_read = 0.025
[models."gpt-*"]
input = 1
output = 10
"""


@pytest.fixture
def prices(tmp_path):
    def read(text):
        (tmp_path / "prices.toml").write_text(text)
        return read_prices(tmp_path / "prices.toml")

    return read


def test_the_first_pattern_that_fits_has_the_price(prices):
    found = prices(FILE)
    assert found.currency == "USD"
    assert found.of("gpt-5-mini-2026").cost(TokenUsage(1000, 100, 4000, 8)) == 250 + 200 + 100 + 2
    assert found.of("gpt-6").cost(TokenUsage(1000, 100)) == 2000
    assert found.of("claude") is None
    assert found.of("gpt-5-mini").cost(TokenUsage(1, 0)) == 1, "rounded up"
    assert found.of("gpt-5-mini").at_most(1000, 100) == 450, "all input at the dearest price"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[models.m]\ninput = 1\noutput = 1", "must say its currency"),
        ('currency = "USD"\n[models.m]\ninput = -1\noutput = 1', "models.'m'.input must be a number from 0 to 1000000"),
        ('currency = "USD"\n[models.m]\ninput = nan\noutput = 1', "models.'m'.input must be a number"),
        ('currency = "USD"\n[models.m]\ninput = true\noutput = 1', "models.'m'.input must be a number"),
        ('currency = "USD"\n[models.m]\ninput = 1', "models.'m'.output must be a number"),
        ('currency = "USD"\n[models.m]\ninput = 1\noutput = 1\nimages = 3', "models.'m'.images is not one of input,"),
        ('currency = "USD"\nmodels = 3', "which is no [models.…] table"),
        ('currency = "USD"\n[model.m]\ninput = 1', "has model, which is no"),
        ('currency = "USD"\nmodels.m = 3', "models.'m' is not a table of prices"),
        ("currency = ", "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_with_its_reason(prices, text, why):
    with pytest.raises(BadPrices) as raised:
        prices(text)
    assert why in str(raised.value)


def test_a_budget_of_money_needs_prices(tmp_path):
    with pytest.raises(BadPrices, match="cannot be read"):
        read_prices(tmp_path / "missing.toml")
    with pytest.raises(ValueError, match=r"limits of cost need agents\.prices_file"):
        AgentSettings(max_cost_per_day=1.0)
    with pytest.raises(ValueError, match="must not be negative"):
        AgentSettings(max_cost_per_day=-1.0)
