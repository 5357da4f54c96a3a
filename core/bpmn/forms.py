"""Forms: `.form` files of Camunda's form editor, which are JSON.

The engine stores a form and says which one belongs to a task. It never evaluates one: clients render it. Therefore only
what every client relies on is checked. Reading never raises: a bad file gives problems with a line or a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from vivero.core.bpmn.model import Form, Problem
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits

MAX_FORM_BYTES = 1024 * 1024
MAX_COMPONENTS = 5_000
MAX_COMPONENT_DEPTH = 32
"""Levels of components in components. Browsers draw a form recursively."""
SCHEMA_VERSION = 19
"""The newest schema that the console's viewer knows. A newer form is deployed with a warning."""

NOT_SHOWN = {
    "filepicker": "files cannot be attached to tasks yet",
    "documentPreview": "files cannot be attached to tasks yet",
    "iframe": "the console shows no other pages inside its own",
}
"""Types of components that have no effect in the console."""


def read_form(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> Parsed:
    """Read a form. `resource` is its name, for the problems."""
    try:
        document = _decoded(content)
    except _Unreadable as unreadable:
        return Parsed(resource, problems=(Problem(resource, None, unreadable.line, str(unreadable)),))
    problems = [Problem(resource, None, None, text) for text in _problems(document, limits)]
    if problems:
        return Parsed(resource, problems=tuple(problems[: limits.problems]))
    warnings = tuple(Problem(resource, None, None, text) for text in _warnings(document))
    return Parsed(resource, warnings=warnings, form=Form(document["id"], document.get("versionTag") or None))


class _Unreadable(Exception):
    """The content is not an accepted JSON document. `line` counts from 1; None if no line is at fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def _decoded(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_FORM_BYTES:
        raise _Unreadable(f"the file has {len(content)} bytes; at most {MAX_FORM_BYTES} are read")
    try:
        text = content.decode("utf-8-sig")
        document = msgspec.json.decode(text)
    except UnicodeDecodeError as error:
        raise _Unreadable("not UTF-8", _line(content, error.start)) from error
    except msgspec.DecodeError as error:
        message, _, place = str(error).partition(" (byte ")
        offset = place.rstrip(")")
        line = _line(content, int(offset)) if offset.isdecimal() else None
        raise _Unreadable(f"not valid JSON: {message}", line) from error
    except RecursionError as error:
        raise _Unreadable("the JSON is nested too deep") from error
    if not isinstance(document, dict):
        raise _Unreadable("a form is a JSON object", 1)
    return document


def _line(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def _problems(document: dict[str, Any], limits: XmlLimits) -> Iterator[str]:
    yield from _identity_problems(document, limits)
    version = document.get("schemaVersion")
    if version is not None and (type(version) is not int or version < 1):
        yield "schemaVersion: a whole number from 1 is expected"
    if document.get("type", "default") != "default":
        yield f"type: {quote(str(document['type']))} is not a form; a form has the type 'default'"
    if "components" not in document:
        yield "components: a form needs a list of components"
    else:
        yield from _component_problems(document["components"])


def _identity_problems(document: dict[str, Any], limits: XmlLimits) -> Iterator[str]:
    form_id, tag = document.get("id"), document.get("versionTag")
    if not isinstance(form_id, str) or not form_id.strip():
        yield "id: a form needs an id, by which processes name it"
    elif not _is_name(form_id, limits):
        yield f"id: {quote(form_id)} is not a name of at most {limits.id_length} characters"
    if tag is not None and not (isinstance(tag, str) and _is_name(tag, limits)):
        yield f"versionTag: a text of at most {limits.id_length} characters is expected"


def _is_name(text: str, limits: XmlLimits) -> bool:
    """Whether a text can be the id of a row: short, on one line, and without characters that cannot be stored."""
    return len(text) <= limits.id_length and (text.isprintable() or not text)


def _component_problems(components: object) -> Iterator[str]:
    """The problems of all components, with the path of each."""
    waiting = [("components", components, 1)]
    count = 0
    while waiting:
        path, found, depth = waiting.pop(0)
        if not isinstance(found, list):
            yield f"{path}: a list of components is expected"
            continue
        count += len(found)
        if depth > MAX_COMPONENT_DEPTH or count > MAX_COMPONENTS:
            yield _too_many(path, depth)
            return
        for place, component in enumerate(found):
            at = f"{path}[{place}]"
            if not isinstance(component, dict):
                yield f"{at}: an object is expected"
            elif not isinstance(component.get("type"), str):
                yield f"{at}.type: a component needs a type"
            elif "components" in component:
                waiting.append((f"{at}.components", component["components"], depth + 1))


def _too_many(path: str, depth: int) -> str:
    if depth > MAX_COMPONENT_DEPTH:
        return f"{path[:60]}…: components are nested deeper than {MAX_COMPONENT_DEPTH} levels"
    return f"components: the form has more than {MAX_COMPONENTS} components"


def _warnings(document: dict[str, Any]) -> Iterator[str]:
    version = document.get("schemaVersion", 1)
    if version > SCHEMA_VERSION:
        yield f"schemaVersion: {version} is newer than {SCHEMA_VERSION}; the console may not show all of the form"
    for type_ in sorted(NOT_SHOWN.keys() & set(_types(document["components"]))):
        yield f"components: '{type_}' has no effect in the console: {NOT_SHOWN[type_]}"


def _types(components: list[dict[str, Any]]) -> Iterator[str]:
    for component in components:
        yield component["type"]
        yield from _types(component.get("components", []))
