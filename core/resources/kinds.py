"""The kinds of files in a deployment. The extension decides how a file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from vivero.core.bpmn.forms import read_form
from vivero.core.bpmn.parser import Parsed, parse
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits
from vivero.core.resources.decisions import read_decision_files
from vivero.core.resources.generic_resources import read_generic, read_rpa


def read_resources(
    files: Mapping[str, bytes], limits: XmlLimits = LIMITS, names: Mapping[str, str] = {}
) -> list[Parsed]:
    """Read the files of one deployment: files of decisions may import each other. Never raises.

    `files` are called by what problems call them. `names` has the names of those that are called otherwise: a file
    without an id is known by its name.
    """
    of_decisions = {label: content for label, content in files.items() if _extension(label) == DECISIONS}
    read = read_decision_files(of_decisions, limits, names)
    return [read.get(label) or _read(label, content, limits, names) for label, content in files.items()]


def read_resource(name: str, content: bytes, limits: XmlLimits = LIMITS) -> Parsed:
    """Read one file of a deployment, like `read_resources`."""
    return read_resources({name: content}, limits)[0]


def _read(label: str, content: bytes, limits: XmlLimits, names: Mapping[str, str]) -> Parsed:
    read = READERS.get(_extension(label), read_generic)(content, label, limits)
    if read.generic is None or read.generic.id != label:
        return read
    return replace(read, generic=replace(read.generic, id=names.get(label, label)))


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


READERS: Mapping[str, Callable[..., Parsed]] = {"bpmn": parse, "xml": parse, "form": read_form, "rpa": read_rpa}
"""The readers of files that stand alone. Every other extension is that of a generic resource."""
DECISIONS = "dmn"
