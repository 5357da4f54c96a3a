"""Entity tags of snapshots, and requests that are conditional on them (RFC 9110, sections 8.8.3 and 13.1).

The tag of an instance tree is its version in quotes. A weak tag, or one of another form, matches nothing in If-Match.
"""

from __future__ import annotations

import re

from vivero.api.http.problems import bad_request
from vivero.api.http.request import Request
from vivero.api.http.response import Header
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.base import Command

MOST_TAGS = 100
_TAG = re.compile(r'(W/)?"([!#-~\x80-\xff]*)"')
_LIST = re.compile(rf"[ \t,]*(?:{_TAG.pattern}[ \t]*(?:,[ \t,]*|$))+")
_VERSION = re.compile(r"[0-9]{1,18}")


def entity_tag(version: int) -> Header:
    return (b"etag", b'"%d"' % version)


def expected_versions(request: Request) -> tuple[int, ...] | None:
    """The versions in If-Match; None without a condition, and for `*`: the subject must exist anyway.

    Raises Problem 400 if the header is not a list of entity tags.
    """
    text = request.header(b"if-match")
    if text is None or text.strip() == "*":
        return None
    return _versions("If-Match", text, weak=False)


def as_expected(request: Request, command: Command, key: int) -> Command:
    """The command, conditional on the versions in If-Match if the header names some. Raises Problem 400."""
    versions = expected_versions(request)
    return command if versions is None else conditional(command, key, versions)


def is_known(request: Request, version: int) -> bool:
    """Whether If-None-Match has the version, so that the client need not get it again. Raises Problem 400."""
    text = request.header(b"if-none-match")
    if text is None:
        return False
    return text.strip() == "*" or version in _versions("If-None-Match", text, weak=True)


def _versions(name: str, text: str, *, weak: bool) -> tuple[int, ...]:
    if _LIST.fullmatch(text) is None:
        raise bad_request(f'The header {name} must be * or a list of entity tags, for example: {name}: "7"')
    tags = _TAG.findall(text)
    if len(tags) > MOST_TAGS:
        raise bad_request(f"The header {name} has {len(tags)} entity tags, and may have {MOST_TAGS}")
    return tuple(int(tag) for prefix, tag in tags if (weak or not prefix) and _VERSION.fullmatch(tag))
