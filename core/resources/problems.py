"""The problems of the files of a deployment, each by itself and against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vivero.core.bpmn.model import Problem
from vivero.core.bpmn.parser import Parsed
from vivero.core.events.starts import InvalidStart, metadata_of


def problems_of(parsed: Sequence[Parsed]) -> list[str]:
    """All problems that the files of a deployment have, each by itself and together, whatever is deployed already."""
    problems = [str(problem) for resource in parsed for problem in resource.deployment_problems]
    problems += _repeated_ids(parsed)
    problems += _repeated_decisions(parsed)
    problems += _missing_decisions(parsed)
    problems += _start_problems(parsed)
    return problems


def _repeated_ids(parsed: Sequence[Parsed]) -> Iterator[str]:
    places: dict[tuple[str, str], str] = {}
    for resource in parsed:
        for what, id in _ids(resource):
            if (what, id) in places:
                yield (
                    f"'{resource.resource}': {what} '{id}' is also in '{places[what, id]}';"
                    f" a deployment can contain a {what} id only once"
                )
            places[what, id] = resource.resource


def _ids(resource: Parsed) -> Iterator[tuple[str, str]]:
    for process in resource.processes:
        yield "process", process.id
    if resource.form is not None:
        yield "form", resource.form.id
    if resource.generic is not None:
        yield "resource", resource.generic.id


def _repeated_decisions(parsed: Sequence[Parsed]) -> Iterator[str]:
    places: dict[tuple[str, str], str] = {}
    for resource in parsed:
        if (file := resource.decisions) is None:
            continue
        ids = [("decision requirements", file.id), *(("decision", each.id) for each in file.decisions)]
        for what, id in ids:
            first = places.setdefault((what, id), resource.resource)
            if first != resource.resource:
                yield (
                    f"Expected the {what} ids to be unique within a deployment but found a duplicated id '{id}' in the"
                    f" resources '{first}' and '{resource.resource}'."
                )


def _missing_decisions(parsed: Sequence[Parsed]) -> Iterator[str]:
    """A problem for each called decision of the same deployment that is not in it."""
    here = {decision.id for each in parsed if each.decisions is not None for decision in each.decisions.decisions}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                called = node.decision
                if called is None or called.binding != "deployment" or not called.decision_id.is_static:
                    continue
                if (id := str(called.decision_id.static_value)) not in here:
                    text = f"Expected to find decision with id '{id}' in current deployment, but not found."
                    yield str(Problem(resource.resource, node.id, node.line, text))


def _start_problems(parsed: Sequence[Parsed]) -> Iterator[str]:
    for resource in parsed:
        for process in resource.processes:
            try:
                metadata_of(process)
            except InvalidStart as error:
                yield f"'{resource.resource}': {error}"
