"""Providers: from the input `provider` of an agent to the request over HTTP that one call is (docs/agents.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from vivero.core.agents.errors import INVALID_INPUT, UNSUPPORTED, AgentError
from vivero.core.agents.inputs import get, text
from vivero.core.agents.wires.signatures import AwsKeys

ANTHROPIC_URL = "https://api.anthropic.com/v1"
CHAT, MESSAGES, CONVERSE = "chat completions", "messages", "converse"
ANTHROPIC_VERSION = "2023-06-01"
AZURE_VERSION = "2024-10-21"
OWN_PARAMETERS = frozenset({"model", "models", "messages", "tools", "functions", "stream", "n"})
"""Parameters that no process sets: the operator allows models, and one answer is read, which is not a stream."""


@dataclass(frozen=True, slots=True, repr=False)
class Provider:
    """The connection of an agent to a model. Headers and keys have secrets."""

    type: str
    wire: str
    url: str
    model: str
    headers: Mapping[str, str]
    parameters: Mapping[str, Any]
    timeout: str
    """ISO 8601; empty: none of its own."""
    aws_keys: AwsKeys | None = None
    region: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    is_ambient: bool = False
    """It uses the credentials of the server's own environment."""

    @property
    def target(self) -> str:
        """The whole URL of a call."""
        return f"{self.url}?{urlencode(self.query)}" if self.query else self.url


def read_provider(given: Any, openai_url: str) -> Provider:
    """The provider of an input. `openai_url`: that of the provider `openai`. Raises AgentError that names the input."""
    type = text(given, "type").strip()
    reader = _READERS.get(type.lower())
    if reader is None:
        known = ", ".join(("openai", "openaiCompatible", "azureOpenAi", "anthropic", "bedrock"))
        raise AgentError(UNSUPPORTED, f"provider.type '{type}' is not supported; supported are {known}")
    name, read = reader
    inputs = get(given, name)
    if not isinstance(inputs, dict):
        raise AgentError(INVALID_INPUT, f"provider.{name} is missing")
    return read(inputs, name, openai_url)


def _openai(inputs: Mapping[str, Any], name: str, openai_url: str) -> Provider:
    headers = _bearer(_needed(inputs, name, "authentication.apiKey"))
    for header, path in (("OpenAI-Organization", "organizationId"), ("OpenAI-Project", "projectId")):
        if value := text(inputs, f"authentication.{path}").strip():
            headers[header] = value
    return _made(name, CHAT, f"{openai_url.rstrip('/')}/chat/completions", inputs, headers, _CHAT_PARAMETERS)


def _compatible(inputs: Mapping[str, Any], name: str, _: str) -> Provider:
    key = text(inputs, "authentication.apiKey").strip()
    given = {str(header): str(value) for header, value in (_context(inputs, name, "headers")).items()}
    headers = {} if any(header.lower() == "authorization" for header in given) or not key else _bearer(key)
    query = {str(each): str(value) for each, value in _context(inputs, name, "queryParameters").items()}
    made = _made(
        name, CHAT, f"{_endpoint(inputs, name)}/chat/completions", inputs, {**headers, **given}, _CHAT_PARAMETERS, query
    )
    custom = _context(inputs, name, "model.parameters.customParameters")
    if own := OWN_PARAMETERS & custom.keys():
        why = f"provider.{name}.model.parameters.customParameters cannot set {', '.join(sorted(own))}"
        raise AgentError(INVALID_INPUT, why)
    return replace(made, parameters={**made.parameters, **custom})


def _azure(inputs: Mapping[str, Any], name: str, _: str) -> Provider:
    if text(inputs, "authentication.type").strip().lower() not in ("", "apikey"):
        raise AgentError(UNSUPPORTED, f"provider.{name}.authentication.type: only apiKey is supported")
    deployment = quote(_needed(inputs, name, "model.deploymentName"), safe="")
    url = f"{_endpoint(inputs, name)}/openai/deployments/{deployment}/chat/completions"
    headers = {"api-key": _needed(inputs, name, "authentication.apiKey")}
    query = {"api-version": AZURE_VERSION}
    return _made(name, CHAT, url, inputs, headers, _CHAT_PARAMETERS, query, "model.deploymentName")


def _anthropic(inputs: Mapping[str, Any], name: str, _: str) -> Provider:
    endpoint = text(inputs, "endpoint").strip().rstrip("/") or ANTHROPIC_URL
    key = _needed(inputs, name, "authentication.apiKey")
    headers = {"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION}
    parameters = {"maxTokens": "max_tokens", "temperature": "temperature", "topP": "top_p", "topK": "top_k"}
    return _made(name, MESSAGES, f"{endpoint}/messages", inputs, headers, parameters)


def _bedrock(inputs: Mapping[str, Any], name: str, _: str) -> Provider:
    region = _needed(inputs, name, "region").strip()
    if not region.replace("-", "").isalnum() or not region.isascii():
        raise AgentError(INVALID_INPUT, f"provider.{name}.region is not the name of a region")
    endpoint = text(inputs, "endpoint").strip().rstrip("/") or f"https://bedrock-runtime.{region}.amazonaws.com"
    url = f"{endpoint}/model/{quote(_needed(inputs, name, 'model.model'), safe='')}/converse"
    keys, headers, is_ambient = None, dict[str, str](), False
    match kind := text(inputs, "authentication.type").strip().lower():
        case "credentials":
            keys = AwsKeys(*(_needed(inputs, name, f"authentication.{part}") for part in ("accessKey", "secretKey")))
        case "apikey":
            headers = _bearer(_needed(inputs, name, "authentication.apiKey"))
        case "defaultcredentialschain":
            is_ambient = True
        case _:
            raise AgentError(INVALID_INPUT, f"provider.{name}.authentication.type '{kind}' is not known")
    parameters = {"maxTokens": "maxTokens", "temperature": "temperature", "topP": "topP"}
    made = _made(name, CONVERSE, url, inputs, headers, parameters)
    return replace(made, aws_keys=keys, region=region, is_ambient=is_ambient)


_CHAT_PARAMETERS = {
    "maxCompletionTokens": "max_completion_tokens",
    "maxTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
}


def _made(
    type: str,
    wire: str,
    url: str,
    inputs: Mapping[str, Any],
    headers: Mapping[str, str],
    parameters: Mapping[str, str],
    query: Mapping[str, str] | None = None,
    model: str = "model.model",
) -> Provider:
    """`parameters`: the names of the protocol by those of the template. Only those that the model sets are sent."""
    given = get(inputs, "model.parameters")
    values = given if isinstance(given, dict) else {}
    sent = {theirs: values[ours] for ours, theirs in parameters.items() if values.get(ours) not in (None, "")}
    timeout = text(inputs, "timeouts.timeout").strip()
    return Provider(type, wire, url, _needed(inputs, type, model), headers, sent, timeout, query=query or {})


def _needed(inputs: Mapping[str, Any], name: str, path: str) -> str:
    value = text(inputs, path)
    if not value.strip():
        raise AgentError(INVALID_INPUT, f"provider.{name}.{path} is missing")
    return value


def _endpoint(inputs: Mapping[str, Any], name: str) -> str:
    return _needed(inputs, name, "endpoint").strip().rstrip("/")


def _context(inputs: Mapping[str, Any], name: str, path: str) -> Mapping[str, Any]:
    value = get(inputs, path)
    if value is not None and not isinstance(value, dict):
        raise AgentError(INVALID_INPUT, f"provider.{name}.{path} is not a context")
    return {key: item for key, item in (value or {}).items() if item is not None}


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


_READERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], str, str], Provider]]] = {
    "openai": ("openai", _openai),
    "openaicompatible": ("openaiCompatible", _compatible),
    "azureopenai": ("azureOpenAi", _azure),
    "anthropic": ("anthropic", _anthropic),
    "bedrock": ("bedrock", _bedrock),
}
