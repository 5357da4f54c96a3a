"""Forms: `.form` files of Camunda's form editor, which are JSON.

The engine stores a form and says which one belongs to a task. It never evaluates one: clients render it. Therefore only
what every client relies on is checked. Reading never raises: a bad file gives problems with a line or a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vivero.core.bpmn.model import Form, Problem
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.json_objects import UnreadableJson, identity_problems, read_object
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits

MAX_FORM_BYTES = 1024 * 1024
MAX_COMPONENTS = 5_000
MAX_COMPONENT_DEPTH = 32
"""Levels of components in components. Browsers draw a form recursively."""
SCHEMA_VERSION = 19
"""The newest schema that the console's viewer knows. A newer form is deployed with a warning."""

NOT_SHOWN = {"iframe": "the console shows no other pages inside its own"}
"""Types of components that have no effect in the console."""


def read_form(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> Parsed:
    """Read a form. `resource` is its name, for the problems."""
    try:
        document = read_object(content, "a form", MAX_FORM_BYTES)
    except UnreadableJson as unreadable:
        return Parsed(resource, problems=(Problem(resource, None, unreadable.line, str(unreadable)),))
    problems = [Problem(resource, None, None, text) for text in _problems(document, limits)]
    if problems:
        return Parsed(resource, problems=tuple(problems[: limits.problems]))
    warnings = tuple(Problem(resource, None, None, text) for text in _warnings(document))
    return Parsed(resource, warnings=warnings, form=Form(document["id"], document.get("versionTag") or None))


def _problems(document: dict[str, Any], limits: XmlLimits) -> Iterator[str]:
    yield from identity_problems(document, "a form", limits)
    version = document.get("schemaVersion")
    if version is not None and (type(version) is not int or version < 1):
        yield "schemaVersion: a whole number from 1 is expected"
    if document.get("type", "default") != "default":
        yield f"type: {quote(str(document['type']))} is not a form; a form has the type 'default'"
    if "components" not in document:
        yield "components: a form needs a list of components"
    else:
        yield from _component_problems(document["components"])


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
