"""Files of decisions in a deployment, which are read together, because they may import each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import regex

from vivero.core.bpmn.model import DecisionFile, DecisionSummary, Problem
from vivero.core.bpmn.parser import PROCESS_ID, Parsed
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import XmlLimits
from vivero.core.dmn import check_decisions
from vivero.core.dmn.compiling.linking import Linked
from vivero.core.dmn.model import Definitions
from vivero.core.dmn.reading.document import LIMITS


def read_decision_files(
    files: Mapping[str, bytes], limits: XmlLimits, names: Mapping[str, str] = {}
) -> dict[str, Parsed]:
    """The decisions of files, or the problems of each, by the names of the files. Never raises.

    `limits`: as of `limits_of_decisions`; `names`: as of `read_resources`.
    """
    if not files:
        return {}
    own = limits_of_decisions(limits)
    checked = check_decisions(files, limits=own)
    found: dict[str, Parsed] = {}
    for name in files:
        problems = tuple(problem for problem in checked.problems if problem.resource == name)
        warnings = tuple(warning for warning in checked.warnings if warning.resource == name)
        file = None if checked.linked is None else checked.linked.files[name]
        id = "" if file is None else _id_of(file, names.get(name, name), own)
        if file is not None and not file.id:
            text = f"definitions has no id: the file is known as {quote(id)}, by its name"
            warnings += (Problem(name, None, None, text),)
        objections = () if file is None else tuple(_objections(file, id, own))
        whole = None if checked.linked is None or checked.problems else _summary(name, id, checked.linked)
        found[name] = Parsed(name, (), problems, (), objections, warnings, decisions=whole)
    return found


def limits_of_decisions(limits: XmlLimits) -> XmlLimits:
    """The limits of a file of decisions: its own for the size, and those of `limits` for all else."""
    return replace(LIMITS, feel=limits.feel, problems=limits.problems, id_length=limits.id_length)


def _objections(file: Definitions, id: str, limits: XmlLimits) -> Iterator[Problem]:
    """Problems of a deployment: ids that requests could not name."""
    if not _is_name(id, limits):
        yield Problem(file.resource, None, None, f"{quote(file.id)} is not an id: {_RULE.format(limits.id_length)}")
    for decision in file.decisions:
        if not _is_name(decision.id, limits):
            text = f"{quote(decision.id)} is not the id of a decision: {_RULE.format(limits.id_length)}"
            yield Problem(file.resource, decision.id[: limits.id_length], decision.line, text)


_NOT_IN_IDS = regex.compile(r"[^\p{L}\p{N}_\-.]")
_RULE = "letters, digits, '_', '-' and '.' are allowed, the first is a letter or '_', and there are at most {}"


def _is_name(id: str, limits: XmlLimits) -> bool:
    return PROCESS_ID.fullmatch(id) is not None and len(id) <= limits.id_length


def _id_of(file: Definitions, name: str, limits: XmlLimits) -> str:
    """The id of the file. DMN allows files without one (DMN 1.5 §6.3.2); the name of such a file takes its place."""
    if file.id:
        return file.id
    name = _NOT_IN_IDS.sub("_", name.removesuffix(".dmn"))
    return (name if PROCESS_ID.fullmatch(name) else f"_{name}")[: limits.id_length]


def _summary(name: str, id: str, linked: Linked) -> DecisionFile:
    file = linked.files[name]
    decisions = tuple(DecisionSummary(each.id, each.name or each.id, each.version_tag) for each in file.decisions)
    return DecisionFile(id, file.name or id, decisions, linked.all_imported(name))
