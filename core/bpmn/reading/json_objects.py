"""Deployed files that are JSON objects: forms, and scripts of robots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import XmlLimits


class UnreadableJson(Exception):
    """The content is not an accepted JSON document. `line` counts from 1; None if no line is at fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def read_object(content: bytes, what: str, most_bytes: int) -> dict[str, Any]:
    """The JSON object of a file. `what` the file is, for the message. Raises UnreadableJson."""
    if len(content) > most_bytes:
        raise UnreadableJson(f"the file has {len(content)} bytes; at most {most_bytes} are read")
    try:
        text = content.decode("utf-8-sig")
        document = msgspec.json.decode(text)
    except UnicodeDecodeError as error:
        raise UnreadableJson("not UTF-8", _line(content, error.start)) from error
    except msgspec.DecodeError as error:
        message, _, place = str(error).partition(" (byte ")
        offset = place.rstrip(")")
        line = _line(content, int(offset)) if offset.isdecimal() else None
        raise UnreadableJson(f"not valid JSON: {message}", line) from error
    except RecursionError as error:
        raise UnreadableJson("the JSON is nested too deep") from error
    if not isinstance(document, dict):
        raise UnreadableJson(f"{what} is a JSON object", 1)
    return document


def _line(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def identity_problems(document: dict[str, Any], what: str, limits: XmlLimits) -> Iterator[str]:
    """The problems of the fields `id`, by which processes name the file, and `versionTag`."""
    id, tag = document.get("id"), document.get("versionTag")
    if not isinstance(id, str) or not id.strip():
        yield f"id: {what} needs an id, by which processes name it"
    elif not _is_name(id, limits):
        yield f"id: {quote(id)} is not a name of at most {limits.id_length} characters"
    if tag is not None and not (isinstance(tag, str) and _is_name(tag, limits)):
        yield f"versionTag: a text of at most {limits.id_length} characters is expected"


def _is_name(text: str, limits: XmlLimits) -> bool:
    """Whether a text can be the id of a row: short, on one line, and without characters that cannot be stored."""
    return len(text) <= limits.id_length and (text.isprintable() or not text)
