"""Settings of AI agents. Nothing is allowed until the operator names it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from vivero.core.texts.fields import listed
from vivero.engine.jobs.durations import seconds

PROVIDERS = ("openai", "openaiCompatible", "azureOpenAi", "anthropic", "bedrock")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Providers and models that agents may use, and their limits. 0: no limit."""

    providers: str = ""
    """Providers that agents may call, with commas: openai, openaiCompatible, azureOpenAi, anthropic, bedrock."""
    endpoints: str = ""
    """Hosts, or `host:port`, separated by commas, that agents may call beside the usual ones of these providers."""
    models: str = "*"
    """Models that agents may use: patterns with `*`, separated by commas."""
    ambient_credentials: str = ""
    """Tenants, separated by commas, whose agents may use the server's own credentials of AWS, from the environment."""
    openai_base_url: str = "https://api.openai.com/v1"
    """URL of the provider `openai`, for gateways."""
    mcp_clients: Path | None = None
    """TOML file of MCP servers and programs, by the `clientId` of elements (docs/agents.md)."""
    max_call: str = "PT3M"
    """Time of one call of a model, or of an MCP server, unless the model of the process gives less."""
    max_job: str = "PT10M"
    """Time of all calls of one job: a model that names no tool it has is asked again."""
    max_response_bytes: int = 4 * 1024 * 1024
    """An answer of a model, unpacked, or all answers of an MCP server to one job."""
    max_tool_calls: int = 16
    """Tools that one answer may call; the others get an error as their result."""
    max_calls_per_instance: int = 0
    """Calls of models that one process instance may make."""
    max_tokens_per_instance: int = 0
    """Tokens, of input and output, that one process instance may use."""
    max_calls_per_day: int = 0
    """Calls of models that one tenant may make on a day (UTC)."""
    max_tokens_per_day: int = 0
    """Tokens, of input and output, that one tenant may use on a day (UTC)."""
    max_process_tokens_per_day: int = 0
    """Tokens, of input and output, that the instances of one process may use on a day (UTC)."""
    prices_file: Path | None = None
    """A TOML file with the prices of models. Calls of models without a price have no cost."""
    max_cost_per_instance: float = 0.0
    """Money, in the currency of the prices, that the calls of one process instance may cost."""
    max_cost_per_day: float = 0.0
    """Money that the calls of one tenant may cost on a day (UTC)."""
    max_process_cost_per_day: float = 0.0
    """Money that the calls of the instances of one process may cost on a day (UTC)."""

    def __post_init__(self) -> None:
        unknown = [name for name in listed(self.providers) if name not in PROVIDERS]
        if unknown:
            raise ValueError(f"providers: '{unknown[0]}' is not one of {', '.join(PROVIDERS)}")
        if any("/" in host or "*" in host for host in listed(self.endpoints)):
            raise ValueError("endpoints must be hosts, or host:port, without a scheme or a path")
        if urlsplit(self.openai_base_url).scheme not in ("http", "https"):
            raise ValueError("openai_base_url must begin with http:// or https://")
        if min(self.max_call_s, self.max_job_s) <= 0 or min(self.max_response_bytes, self.max_tool_calls) < 1:
            raise ValueError("max_call, max_job, max_response_bytes and max_tool_calls must be greater than 0")
        if min(self.limits) < 0:
            raise ValueError("limits of calls, tokens and cost must not be negative")
        if max(self.costs) > 0 and self.prices_file is None:
            raise ValueError("limits of cost need agents.prices_file")

    @property
    def costs(self) -> tuple[float, ...]:
        """All budgets of money."""
        return self.max_cost_per_instance, self.max_cost_per_day, self.max_process_cost_per_day

    @property
    def limits(self) -> tuple[float, ...]:
        """All budgets."""
        return (
            *(self.max_calls_per_instance, self.max_tokens_per_instance),
            *(self.max_calls_per_day, self.max_tokens_per_day, self.max_process_tokens_per_day),
            *self.costs,
        )

    @property
    def max_call_s(self) -> float:
        return seconds(self.max_call)

    @property
    def max_job_s(self) -> float:
        return seconds(self.max_job)

    def allows_provider(self, name: str) -> bool:
        return name in listed(self.providers)

    def allows_model(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in listed(self.models))

    def allows_endpoint(self, host: str, port: int | None) -> bool:
        """Whether the operator lists a host that is not a usual one of a provider."""
        return any(each.lower() in (host, f"{host}:{port}") for each in listed(self.endpoints))

    def allows_ambient(self, tenant: str) -> bool:
        return tenant in listed(self.ambient_credentials)
