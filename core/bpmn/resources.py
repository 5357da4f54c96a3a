"""The kinds of files that can be deployed. The extension decides how a file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vivero.core.bpmn.forms import read_form
from vivero.core.bpmn.model import Problem
from vivero.core.bpmn.parser import Parsed, parse
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits


def read_resource(
    name: str, content: bytes, limits: XmlLimits = LIMITS, *, enabled: frozenset[str] = frozenset()
) -> Parsed:
    """Read one file of a deployment. Never raises: a file of an unknown kind gives a problem.

    `limits` and `enabled` as in `core.bpmn.parser.parse`.
    """
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if extension in READERS:
        return READERS[extension](content, name, limits, enabled=enabled)
    return Parsed(name, problems=(Problem(name, None, None, _unknown_kind(extension)),))


def _unknown_kind(extension: str) -> str:
    known = ", ".join(f".{known}" for known in READERS)
    found = f"files of type .{extension[:20]}" if extension else "files without an extension"
    return NOT_YET.get(extension) or f"{found} cannot be deployed; known are {known}"


READERS: Mapping[str, Callable[..., Parsed]] = {"bpmn": parse, "xml": parse, "form": read_form}
NOT_YET: Mapping[str, str] = {"dmn": "decisions (.dmn) are not supported yet"}
