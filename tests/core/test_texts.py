"""Short texts of other systems, read in one way."""

from __future__ import annotations

import pytest

from vivero.core.texts.fields import listed, retry_after_s
from vivero.core.texts.hosts import is_loopback


@pytest.mark.parametrize(("text", "pause_s"), [("7", 7.0), (" 0.25 ", 0.25), ("999999999", 999_999_999.0)])
def test_a_pause_is_in_seconds(text, pause_s):
    assert retry_after_s(text) == pause_s


@pytest.mark.parametrize(
    "text", [None, "", "-1", "1e9", "nan", "²", "٣", "1.", "1234567890", "Sat, 28 Nov 2026 22:00:00 GMT"]
)
def test_other_texts_ask_for_no_pause(text):
    assert retry_after_s(text) is None


@pytest.mark.parametrize("host", ["localhost", "A.LOCALHOST", "127.0.0.1", "127.8.8.8", "::1"])
def test_loopback_has_names_and_addresses(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "127.example.com", "0.0.0.0", "10.0.0.1", "localhost.example.com", "127.1"])
def test_hosts_that_only_look_like_loopback_are_not(host):
    assert not is_loopback(host)


def test_items_of_a_list_are_not_empty():
    assert listed(" a, ,b,\n") == ["a", "b"]
    assert listed("") == []
