"""Webhooks in models: events with the properties that the templates of `io.camunda:webhook:1` write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from vivero.core.bpmn.model import Node, Process
from vivero.core.bpmn.reading.secret_references import named_in
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import (
    EVENT_EXPRESSIONS,
    INBOUND_TYPE,
    InboundElement,
    message_of,
    problems_of_place,
    problems_of_values,
)

WEBHOOK = "io.camunda:webhook:1"
AGENT_WEBHOOK = "io.camunda.agenticai:a2aclient:webhook:0"
"""For notifications of agents of other systems (A2A 0.3.0, section 9.5)."""
WEBHOOKS = (WEBHOOK, AGENT_WEBHOOK)
TOKEN_HEADER = "x-a2a-notification-token"
OF_AGENTS: Mapping[str, str] = {
    "inbound.method": "post",
    "activationCondition": '=request.body.kind != "task" or not(list contains(["submitted", "working"],'
    " request.body.status.state))",
    "consumeUnmatchedEvents": "true",
    "correlationKeyExpression": f'=get value(request.headers, "{TOKEN_HEADER}")',
}
"""The properties of a webhook for agents that its model leaves out."""
ANY = "any"
METHODS = (ANY, "get", "post", "put", "delete")
ALGORITHMS: Mapping[str, str] = {"sha_1": "sha1", "sha_256": "sha256", "sha_512": "sha512"}
NONE, BASIC, API_KEY, JWT = "NONE", "BASIC", "APIKEY", "JWT"
NEEDED: Mapping[str, tuple[str, ...]] = {
    NONE: (),
    BASIC: ("inbound.auth.username", "inbound.auth.password"),
    API_KEY: ("inbound.auth.apiKey", "inbound.auth.apiKeyLocator"),
    JWT: ("inbound.auth.jwt.jwkUrl",),
}
"""The properties that each kind of authentication needs."""
ISSUER, AUDIENCE = "inbound.auth.jwt.issuer", "inbound.auth.jwt.audience"
REQUIRED_ROLES = "inbound.auth.jwt.requiredPermissions"
HMAC_SECRET, HMAC_HEADER = "inbound.hmacSecret", "inbound.hmacHeader"
CREDENTIALS: Mapping[str, tuple[str, ...]] = {
    NONE: (),
    BASIC: NEEDED[BASIC],
    API_KEY: ("inbound.auth.apiKey",),
    JWT: (*NEEDED[JWT], ISSUER, AUDIENCE, REQUIRED_ROLES),
}
"""The properties whose texts each kind of authentication compares with a call. They may be expressions without
variables."""
LISTS = (AUDIENCE, REQUIRED_ROLES)
"""Those that are lists of texts, or one text."""
EXPRESSIONS = (
    *EVENT_EXPRESSIONS,
    *("inbound.responseExpression", "inbound.responseBodyExpression", "inbound.verificationExpression"),
    *("inbound.auth.apiKeyLocator", "inbound.auth.jwt.permissionsExpression"),
    "inbound.hmacScopes",
)
JUDGES = (
    *("activationCondition", "inbound.verificationExpression"),
    *("inbound.auth.apiKeyLocator", "inbound.auth.jwt.permissionsExpression"),
)
"""Those that decide about a call. No secret is put into them: they would compare the reference, which everybody can
write."""
ENABLED, NOT_ENABLED = "enabled", ("", "disabled")
_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")


@dataclass(frozen=True, slots=True)
class Webhook(InboundElement):
    """An element that waits for calls of a path. Without a message, a call starts the process."""

    code: ClassVar[str] = "WEBHOOK"

    @property
    def path(self) -> str:
        return self.get("inbound.context")

    @property
    def method(self) -> str:
        return self.get("inbound.method").lower() or ANY

    @property
    def type(self) -> str:
        """The type of its connector."""
        return self.get(INBOUND_TYPE)

    @property
    def by_token(self) -> bool:
        """Whether calls prove who they are by the token of the notification alone, which is the correlation key."""
        return self.type == AGENT_WEBHOOK and self.authentication == NONE and not self.signed

    @property
    def authentication(self) -> str:
        return self.get("inbound.auth.type") or NONE

    @property
    def signed(self) -> bool:
        """Whether calls need an HMAC."""
        return self.get("inbound.shouldValidateHmac") == ENABLED

    def credential(self, name: str) -> str:
        """A text that calls are checked with, before its secrets. Raises ConnectorError if it is empty or no text."""
        text = self.get(name)
        value = self.evaluate(name, {}) if text.startswith("=") else text
        if not isinstance(value, str) or not value:
            raise ConnectorError("WEBHOOK", f"the property {name} must give a text that is not empty")
        return value

    def texts(self, name: str) -> list[str]:
        """Texts that calls are checked with, from an expression or one text. Raises ConnectorError."""
        text = self.get(name)
        value = self.evaluate(name, {}) if text.startswith("=") else text
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
            raise ConnectorError("WEBHOOK", f"the property {name} must give a list of texts that are not empty")
        return items


def webhooks_of(process: Process) -> Iterator[Webhook]:
    """The webhooks of a process. Those with problems are left out."""
    for node in _elements(process):
        if not list(_problems(node)):
            yield _webhook(node)


def problems(resource: str, process: Process) -> Iterator[str]:
    """Problems of the webhooks of a process."""
    paths: dict[str, str] = {}
    for node in _elements(process):
        for problem in _problems(node):
            yield f"'{resource}' element '{node.id}': {problem}"
        path = node.properties.get("inbound.context", "").strip()
        if path in paths:
            yield f"'{resource}' element '{node.id}': the element '{paths[path]}' has the same webhook path '{path}'"
        paths[path] = node.id


def warnings(resource: str, process: Process, has_secret: Callable[[str], bool] | None = None) -> Iterator[str]:
    """Warnings of the webhooks of a process.

    `has_secret(name)`: whether the server has this secret, and it is not empty; None: that is not known here."""
    for webhook in webhooks_of(process):
        names = _credentials(webhook)
        for secret in sorted(named_in(webhook.get(name) for name in names)):
            if has_secret is not None and not has_secret(secret):
                yield (
                    f"'{resource}' element '{webhook.element_id}': the server has no secret '{secret}', or an empty"
                    " one, so the webhook refuses every call"
                )
        for name in sorted(webhook.properties.keys() - {*names}):
            if named_in([webhook.get(name)]):
                yield (
                    f"'{resource}' element '{webhook.element_id}': the property {name} names a secret, but only"
                    " credentials get secrets: the reference stays as it is"
                )
        lacking = [name for name in (ISSUER, AUDIENCE) if webhook.authentication == JWT and name not in names]
        if lacking:
            yield (
                f"'{resource}' element '{webhook.element_id}': without {' and '.join(lacking)} the webhook accepts"
                " tokens that the key set's owner has issued for others"
            )


def _credentials(webhook: Webhook) -> list[str]:
    """The properties of a webhook whose texts are compared with a call."""
    names = (*CREDENTIALS.get(webhook.authentication, ()), *((HMAC_SECRET,) if webhook.signed else ()))
    return [name for name in names if webhook.get(name)]


def _elements(process: Process) -> list[Node]:
    return [node for node in process.nodes.values() if node.properties.get(INBOUND_TYPE) in WEBHOOKS]


def _webhook(node: Node) -> Webhook:
    defaults = OF_AGENTS if node.properties.get(INBOUND_TYPE) == AGENT_WEBHOOK else {}
    given = {name: text for name, text in node.properties.items() if text.strip() or name not in defaults}
    return Webhook(node.id, message_of(node), {**defaults, **given})


def _problems(node: Node) -> Iterator[str]:
    webhook = _webhook(node)
    yield from problems_of_place(node, "a webhook", webhook.properties)
    if webhook.type == AGENT_WEBHOOK and (node.type == "START_EVENT" or webhook.message is None):
        yield "a webhook for notifications of agents needs an event with a message that waits, or a receive task"
    if not _PATH.fullmatch(webhook.path):
        yield "inbound.context, the path of the webhook, needs 1 to 200 letters, digits, - and _"
    if webhook.method not in METHODS:
        yield f"inbound.method must be one of {', '.join(METHODS)}"
    yield from _problems_of_access(webhook)
    for name in JUDGES:
        if named_in([webhook.get(name)]):
            yield f"the property {name} names a secret, but only credentials get secrets: it would see the reference"
    yield from problems_of_values(webhook, EXPRESSIONS)


def _problems_of_access(webhook: Webhook) -> Iterator[str]:
    if webhook.authentication not in NEEDED:
        yield f"inbound.auth.type must be one of {', '.join(NEEDED)}"
    for name in NEEDED.get(webhook.authentication, ()):
        if not webhook.get(name):
            yield f"the property {name} is missing"
    if webhook.get(REQUIRED_ROLES) and not webhook.get("inbound.auth.jwt.permissionsExpression"):
        yield f"{REQUIRED_ROLES} needs inbound.auth.jwt.permissionsExpression, the place of the roles in the token"
    for name in _credentials(webhook):
        try:
            _ = webhook.texts(name) if name in LISTS else webhook.credential(name)
        except ConnectorError as error:
            yield error.message
    if not webhook.signed:
        if webhook.get("inbound.shouldValidateHmac") not in NOT_ENABLED:
            yield "inbound.shouldValidateHmac must be enabled or disabled"
        return
    for name in (HMAC_SECRET, HMAC_HEADER):
        if not webhook.get(name):
            yield f"the property {name} is missing"
    if webhook.get("inbound.hmacAlgorithm") not in ALGORITHMS:
        yield f"inbound.hmacAlgorithm must be one of {', '.join(ALGORITHMS)}"
    if webhook.get("inbound.hmacScopes").replace(" ", "") not in ("", '=["BODY"]'):
        yield 'inbound.hmacScopes can only be =["BODY"]: other scopes are not supported'
