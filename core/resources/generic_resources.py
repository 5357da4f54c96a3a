"""Generic resources: files that the engine stores for workers and never executes.

A script of robots (`.rpa`) is a JSON object that names itself. Every other file is named by its file name, and its
bytes are not looked at. Reading never raises.
"""

from __future__ import annotations

from vivero.core.bpmn.model import GenericResource, Problem
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.json_objects import UnreadableJson, identity_problems, read_object
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits

MAX_NAME = 500
"""Characters. A name is a part of a key of an index."""
MAX_RPA_BYTES = 1024 * 1024
_SCRIPT = "a script of robots"


def read_generic(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> Parsed:
    """A file of any kind. `resource` is its name, and its id."""
    if not (resource.isprintable() and 0 < len(resource) <= MAX_NAME):
        text = f"processes name a file by its name: it needs 1 to {MAX_NAME} printable characters"
        return Parsed(resource, problems=(Problem(resource, None, None, text),))
    return Parsed(resource, generic=GenericResource(resource))


def read_rpa(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> Parsed:
    """A script of robots. `resource` is its name, for the problems."""
    try:
        document = read_object(content, _SCRIPT, MAX_RPA_BYTES)
    except UnreadableJson as unreadable:
        return Parsed(resource, problems=(Problem(resource, None, unreadable.line, str(unreadable)),))
    problems = tuple(Problem(resource, None, None, text) for text in identity_problems(document, _SCRIPT, limits))
    if problems:
        return Parsed(resource, problems=problems)
    return Parsed(resource, generic=GenericResource(document["id"], document.get("versionTag") or None))
