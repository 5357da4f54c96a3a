"""One call of a model: what the operator allows, the request over HTTP, and the answer or a failure."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time_ns
from typing import Any

import httpx
import msgspec
import trio

from vivero.core.agents.errors import FAILED_MODEL_CALL, INVALID_INPUT, AgentError
from vivero.core.agents.model import ModelRequest
from vivero.core.agents.wires.providers import ANTHROPIC_URL, Provider
from vivero.core.agents.wires.signatures import AwsKeys, signed
from vivero.core.agents.wires.table import WIRES, refusal
from vivero.core.feel import EvaluationError, from_json
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient, HttpResponse
from vivero.engine.connectors.http.requests import OWN_HEADERS, HttpRequest, check_header, read_url
from vivero.engine.connectors.http.value_counts import MOST_VALUES, has_too_many_values
from vivero.engine.connectors.outbound.http_json import without_nul
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.engine.jobs.durations import seconds

CONNECT_S = 10.0
NOT_ALLOWED = "NOT_ALLOWED"
FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS"
_AMAZON = ".amazonaws.com"

_encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call before its credentials. `digest` tells equal requests."""

    provider: Provider
    request: ModelRequest
    content: bytes
    digest: str


def check_allowed(provider: Provider, settings: AgentSettings, tenant: str) -> None:
    """Raise AgentError unless the operator allows provider, host, model and credentials."""
    url = read_url(provider.url)
    if not settings.allows_provider(provider.type):
        raise _forbidden(f"agents.providers does not name the provider '{provider.type}'")
    if not settings.allows_model(provider.model):
        raise _forbidden(f"agents.models does not allow the model '{provider.model}'")
    if not (_is_usual(url, provider, settings) or settings.allows_endpoint(url.host, url.port)):
        raise _forbidden(f"agents.endpoints does not name the host '{url.netloc.decode('ascii')}'")
    if provider.is_ambient and not settings.allows_ambient(tenant):
        raise _forbidden(f"agents.ambient_credentials does not name the tenant '{tenant}'")


def _forbidden(why: str) -> AgentError:
    return AgentError(NOT_ALLOWED, f"{why}: the operator of the server decides this")


def _is_usual(url: httpx.URL, provider: Provider, settings: AgentSettings) -> bool:
    """Whether it is the host where the provider itself serves its models."""
    if provider.type == "openai":
        return True  # its URL is a setting
    if provider.type == "anthropic":
        usual = httpx.URL(ANTHROPIC_URL)
        return (url.scheme, url.host, url.port) == (usual.scheme, usual.host, usual.port)
    if provider.type == "bedrock":
        return (url.scheme, url.host, url.port) == ("https", f"bedrock-runtime.{provider.region}{_AMAZON}", None)
    return False


def prepared(provider: Provider, request: ModelRequest, used: UsedSecrets) -> PreparedCall:
    """The call of a model. Its prompts contain no secret of the connection."""
    document = used.mask(WIRES[provider.wire].body(request, provider.model, provider.parameters))
    content = _encode(document)
    named = _encode([provider.wire, provider.url, provider.model])
    return PreparedCall(provider, request, content, hashlib.sha256(named + content).hexdigest())


@dataclass(frozen=True, slots=True, repr=False)
class ReadyCall:
    """A call with its credentials, and its time."""

    request: HttpRequest
    limit_s: float


def ready(call: PreparedCall, settings: AgentSettings) -> ReadyCall:
    """The request of a call. Raises AgentError, ConnectorError for inputs that cannot be sent."""
    return ReadyCall(_http_request(call, settings), min(settings.max_call_s, _timeout_s(call.provider)))


async def respond(call: ReadyCall, client: HttpClient, used: UsedSecrets) -> bytes:
    """The body of a good answer, without secrets. Raises AgentError."""
    try:
        with trio.fail_after(call.limit_s):
            response = await client.call(call.request, Credentials())
    except trio.TooSlowError as error:
        raise _failed("TIMEOUT: the provider did not answer within the time limit") from error
    except ConnectorError as error:
        raise _of_connection(error, used) from error
    if await has_too_many_values(response.body):
        text = f"the answer of the provider has more than {MOST_VALUES} values"
        raise AgentError("RESPONSE_TOO_LARGE", text)
    document = _document(response, used)
    if not 200 <= response.status < 300:
        raise refusal(response.status, document, response.header("retry-after"))
    if document is None:
        raise _failed("the answer of the provider is not JSON")
    return _encode(document)


def _of_connection(error: ConnectorError, used: UsedSecrets) -> AgentError:
    """A failure of the connection. Addresses that are forbidden and answers that are too large have their own codes."""
    message = str(used.mask(error.message))
    if error.final:
        return AgentError(error.code, message, is_unbilled=error.code == FORBIDDEN_ADDRESS)
    return _failed(f"{error.code}: {message}")


def _failed(why: str) -> AgentError:
    return AgentError(FAILED_MODEL_CALL, why, final=False)


def _document(response: HttpResponse, used: UsedSecrets) -> Any:
    try:
        document = used.mask(from_json(response.body.decode("utf-8")))
        return without_nul(document) if b"\\u0000" in response.body else document
    except (EvaluationError, ArithmeticError, RecursionError, UnicodeDecodeError):
        return None


def _http_request(call: PreparedCall, settings: AgentSettings) -> HttpRequest:
    provider, limit_s, most = call.provider, settings.max_call_s, settings.max_response_bytes
    headers = {"Content-Type": "application/json", "Accept": "application/json", **provider.headers}
    keys = _ambient_keys() if provider.is_ambient else provider.aws_keys
    for name, value in headers.items():
        check_header(name, value)
        if name.lower() in OWN_HEADERS:
            raise AgentError(INVALID_INPUT, f"provider.{provider.type}.headers: {name} is set by the connector")
    if keys is not None:
        now = datetime.fromtimestamp(time_ns() / 1e9, UTC)
        headers = signed(
            "POST", provider.url, headers, call.content, keys, region=provider.region, service="bedrock", now=now
        )
    return HttpRequest(
        "POST", read_url(provider.target), headers, call.content, CONNECT_S, limit_s, limit_s, False, most
    )


def _ambient_keys(environment: Mapping[str, str] | None = None) -> AwsKeys:
    variables = os.environ if environment is None else environment
    access, secret = variables.get("AWS_ACCESS_KEY_ID"), variables.get("AWS_SECRET_ACCESS_KEY")
    if not access or not secret:
        raise AgentError(
            INVALID_INPUT, "the environment of the server has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return AwsKeys(access, secret, variables.get("AWS_SESSION_TOKEN") or None)


def _timeout_s(provider: Provider) -> float:
    if not provider.timeout:
        return float("inf")
    try:
        given = seconds(provider.timeout)
    except ValueError as error:
        raise AgentError(INVALID_INPUT, f"provider.{provider.type}.timeouts.timeout: {error}") from error
    if given <= 0:
        raise AgentError(INVALID_INPUT, f"provider.{provider.type}.timeouts.timeout must be longer than zero")
    return given
