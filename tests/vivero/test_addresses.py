"""The address that a node tells the others, for redirects of clients."""

from pathlib import Path

import pytest

from vivero.config.sections import ConfigError
from vivero.config.sources import load
from vivero.node.engine_tasks import address_of

TLS = {"tls.certificate": Path("chain.pem"), "tls.key": Path("key.pem")}


@pytest.mark.parametrize(
    ("flags", "address"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"api.host": "::1"}, "http://[::1]:8080"),
        ({"api.host": "node-1", "api.port": 8443, **TLS}, "https://node-1:8443"),
        ({"api.host": "0.0.0.0", **TLS}, None),
        ({"api.host": ""}, None),
        ({"api.host": "0.0.0.0", "api.advertised_address": "https://vivero.example"}, "https://vivero.example"),
        ({**TLS, "api.advertised_address": "http://behind-a-proxy:80"}, "http://behind-a-proxy:80"),
    ],
)
def test_the_address_of_a_node(flags, address):
    assert address_of(load(environment={}, flags=flags)) == address


@pytest.mark.parametrize("text", ["node-1", "https://", "https://a/b", "ftp://a", "https://u:p@a", "https://a?b"])
def test_an_address_that_is_none(text):
    with pytest.raises(ConfigError, match="advertised_address must be a URL"):
        load(environment={}, flags={"api.advertised_address": text})
