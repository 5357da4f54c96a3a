"""Settings of librdkafka, from the inputs of a connector.

Its client connects by itself to all brokers that a cluster names, past our checks of addresses. So the operator must
name the cluster. Its settings can run programs and read files, so models choose among harmless ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.addresses import AddressPolicy
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.http.transport import resolve
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

Settings = dict[str, str | int | bool]

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SASL_SSL = "SASL_SSL"
PROTOCOLS = ("PLAINTEXT", "SSL", SASL_SSL)
"""Without SASL_PLAINTEXT, which sends a login for everyone to read."""
RENAMED = {"max.request.size": "message.max.bytes", "sasl.mechanisms": "sasl.mechanism"}
"""Names of Java's client, and what librdkafka calls them."""
HARMLESS = frozenset(
    (
        *("client.id", "client.dns.lookup", "compression.type", "linger.ms", "batch.size", "message.max.bytes"),
        *("request.timeout.ms", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"),
        *("isolation.level", "security.protocol", "sasl.mechanism", "retries", "retry.backoff.ms"),
    )
)
WITHOUT_EFFECT = frozenset(
    ("acks", "key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "max.poll.records")
)
"""Settings of Java's client that this one needs not."""
MOST_SERVERS = 20
BOUNDS: Settings = {
    "log_level": 0,
    "socket.connection.setup.timeout.ms": 10_000,
    "fetch.max.bytes": 8 * 1024 * 1024,
    "max.partition.fetch.bytes": 1024 * 1024,
    "receive.message.max.bytes": 16 * 1024 * 1024,
}
"""Limits of the client, whatever a broker sends."""


async def settings_of(inputs: Inputs, policy: AddressPolicy, used: UsedSecrets) -> Settings:
    """The settings of a client. Raises ConnectorError."""
    servers = inputs.texts("topic.bootstrapServers")
    if not 0 < len(servers) <= MOST_SERVERS:
        raise bad_input(f"topic.bootstrapServers must name 1 to {MOST_SERVERS} servers")
    for server in servers:
        await _check(server, policy)
    given = _additional(inputs.context("additionalProperties"))
    name, password = inputs.line("authentication.username"), inputs.line("authentication.password")
    login: Settings = {}
    if bool(name) != bool(password):
        raise bad_input("authentication.username and authentication.password are needed together")
    if password:
        used.hide(password)
        if given.get("security.protocol", SASL_SSL) != SASL_SSL:
            raise bad_input("a login needs the security.protocol SASL_SSL")
        login = {
            "sasl.username": name,
            "sasl.password": password,
            "security.protocol": SASL_SSL,
            "sasl.mechanism": "PLAIN",
        }
    return {**BOUNDS, **login, **given, "bootstrap.servers": ",".join(servers)}


def _additional(given: Mapping[str, Any]) -> Settings:
    found: Settings = {}
    for name, value in given.items():
        known = RENAMED.get(name, name)
        if known in WITHOUT_EFFECT or value is None:
            continue
        if known not in HARMLESS:
            raise bad_input(
                f"additionalProperties must not have {name[:100]}: allowed are {', '.join(sorted(HARMLESS))}"
            )
        found[known] = text_of(value)
    for name, choices in (("sasl.mechanism", MECHANISMS), ("security.protocol", PROTOCOLS)):
        if name in found and found[name] not in choices:
            raise bad_input(f"{name} in additionalProperties must be one of {', '.join(choices)}")
    return found


async def _check(server: str, policy: AddressPolicy) -> None:
    """Raise ConnectorError unless the operator names this server, `host:port`."""
    host, _, port = server.rpartition(":")
    host = host.strip("[]")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise bad_input("each of topic.bootstrapServers must be a host with a port: kafka.example.com:9092")
    try:
        addresses = await resolve(host, int(port))
    except (OSError, UnicodeError) as error:
        raise ConnectorError("CONNECTION_FAILED", f"the name {host[:100]} cannot be resolved") from error
    if not addresses or not all(policy.names(host, address) for address in addresses):
        why = (
            f"connectors.allowed_targets must name {host[:100]}: the client of Kafka connects to what its cluster names"
        )
        raise ConnectorError("FORBIDDEN_ADDRESS", why, final=True)
