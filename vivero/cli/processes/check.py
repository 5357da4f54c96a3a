"""The command `check`: models beside the workers in Python files, without a server."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.files import Resources, chosen, shown_names
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.worker_modules import BadWorkers, is_target, load
from vivero.config.files import Unreadable, read_bytes
from vivero.core.bpmn.model import JobDefinition, Node
from vivero.core.bpmn.parser import Parsed
from vivero.core.feel import Expression
from vivero.core.resources.kinds import read_resources
from vivero.core.resources.problems import problems_of
from vivero.terminal.texts import echo
from vivero.worker import Worker
from vivero.worker.jobs import JobFunction
from vivero.worker.signatures import returned_names

OF_THE_PROGRAM = "io.camunda"
"""Job types that begin so are worked by the program: connectors and user tasks."""
BY_THE_ENGINE = {"loopCounter"}
"""Variables that the engine sets."""


class Targets(Resources):
    """As files of a deployment, or a Python file or module with workers."""

    name = "FILE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if is_target(value) else super().convert(value, param, ctx)


@dataclass(slots=True)
class Contents:
    """The job types of models with the places that name them, and the names of variables that models know."""

    places: dict[str, list[str]] = field(default_factory=dict)
    variables: set[str] = field(default_factory=lambda: set(BY_THE_ENGINE))
    computed: list[str] = field(default_factory=list)
    """The places whose job type is an expression."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...", type=Targets())
@click.option("--strict", is_flag=True, help="Warnings are problems, too.")
@json_option
@click.pass_context
def check(context: click.Context, files: tuple[Any, ...], strict: bool, as_json: bool) -> None:
    """Check models against the workers of Python files, without a server. The exit code is 1 for a problem.

    Problems are job types of the models without a function, and functions whose job type no model has. A parameter is a
    warning if nothing in the models sets or reads its variable: it may come with the start, or from another worker.

    FILES are models, forms, decisions and directories of them, as for `vivero validate`, and Python files or modules.

    \b
    Examples:
      vivero check order.bpmn my_workers.py
      vivero check models/ orders.workers billing.workers
    """
    targets = [each for each in files if isinstance(each, str)]
    paths = chosen(context, context.command.params[0], tuple(each for each in files if not isinstance(each, str)))
    if not targets or not paths:
        raise click.UsageError("give models and Python files, such as: vivero check order.bpmn my_workers.py")
    contents = contents_of(dict(zip(shown_names(paths), map(_content, paths), strict=True)))
    functions = _functions(targets)
    problems, warnings = problems_between(contents, functions), warnings_between(contents, functions)
    valid = not problems and not (strict and warnings)
    if as_json:
        say({"valid": valid, "problems": problems, "warnings": warnings})
    else:
        _print(contents, problems, warnings)
    context.exit(0 if valid else 1)


def _print(contents: Contents, problems: Sequence[str], warnings: Sequence[str]) -> None:
    for problem in problems:
        echo(problem, err=True)
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
    if not problems:
        echo(f"{len(contents.places)} job types have functions: {', '.join(sorted(contents.places))}")


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except Unreadable as error:
        raise Failure(str(error)) from error


def _functions(targets: Sequence[str]) -> dict[str, tuple[str, JobFunction]]:
    """The functions of the workers by job type, with the file of each. Raises Failure."""
    found: dict[str, tuple[str, JobFunction]] = {}
    for target in targets:
        try:
            worker: Worker = load(target)
        except BadWorkers as error:
            raise Failure(str(error)) from error
        found |= {type: (target, function) for type, function in worker.functions.items()}
    return found


# --------------------------------------------------------------------------------------------------------- models


def contents_of(files: Mapping[str, bytes]) -> Contents:
    """Raises Failure for files that cannot be deployed."""
    parsed = read_resources(files)
    if problems := problems_of(parsed):
        raise Failure("; ".join(problems))
    found = Contents()
    for resource in parsed:
        for node in (node for process in resource.processes for node in process.nodes.values()):
            _add_jobs(found, resource, node)
            found.variables |= set(_variables_of(node))
        if resource.form is not None:
            found.variables |= set(_keys_of(json.loads(files[resource.resource]).get("components", ())))
    return found


def _add_jobs(found: Contents, resource: Parsed, node: Node) -> None:
    place = f"'{resource.resource}'{f' line {node.line}' if node.line else ''} element '{node.id}'"
    jobs: list[JobDefinition] = [] if node.job is None else [node.job]
    for job in (*jobs, *(job for jobs in node.listeners.values() for job in jobs)):
        type = str(job.type.static_value)
        if not job.type.is_static:
            found.computed.append(place)
        elif not type.startswith(OF_THE_PROGRAM):
            found.places.setdefault(type, []).append(place)


def _variables_of(node: Node) -> Iterator[str]:
    """The variables that an element sets or reads."""
    yield from (mapping.root for mapping in (*node.inputs, *node.outputs))
    yield from node.presets
    if node.loop is not None:
        yield from (name for name in (node.loop.item, node.loop.result, node.loop.output_name) if name)
    if node.ad_hoc is not None:
        yield from (name for name in (node.ad_hoc.result, node.ad_hoc.output_name) if name)
    yield from (each.result for each in (node.script, node.decision) if each is not None)
    yield from _read_by(node)


def _read_by(part: Any) -> Iterator[str]:
    """The variables that the expressions in a part of a model read."""
    if isinstance(part, Expression):
        yield from part.variables
    elif dataclasses.is_dataclass(part):
        for each in dataclasses.fields(part):
            yield from _read_by(getattr(part, each.name))
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _read_by(value)
    elif isinstance(part, tuple):
        for value in part:
            yield from _read_by(value)


def _keys_of(components: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The variables of the fields of a form, also of fields in groups."""
    for component in components:
        for name in ("key", "path"):
            if isinstance(component.get(name), str):
                yield component[name].partition(".")[0]
        yield from _keys_of(component.get("components", ()))


# ---------------------------------------------------------------------------------------------------- comparisons


def problems_between(contents: Contents, functions: Mapping[str, tuple[str, JobFunction]]) -> list[str]:
    """Job types without a function, and functions without a job type. Expressions may stand for any job type."""
    found = [
        f"{places[0]}: no function works jobs of type '{type}'{_near(type, functions)}"
        for type, places in contents.places.items()
        if type not in functions
    ]
    if contents.computed:
        return found
    return found + [
        f"{target}: no model has the job type '{type}' of {function.signature.function}{_near(type, contents.places)}"
        for type, (target, function) in functions.items()
        if type not in contents.places
    ]


def warnings_between(contents: Contents, functions: Mapping[str, tuple[str, JobFunction]]) -> list[str]:
    """Parameters whose variables nothing sets, as far as models and functions show it, and computed job types."""
    known = contents.variables.union(*(_set_by(function) for _, function in functions.values()))
    found = [
        f"{target}: nothing in the models sets '{one.variable}', parameter '{one.name}' of "
        f"{function.signature.function}, unless it comes with the start{_near(one.variable, known)}"
        for target, function in functions.values()
        for one in function.signature.parameters
        if one.is_required and one.variable not in known
    ]
    return found + [f"{place}: the job type is an expression, and is not checked" for place in contents.computed]


def _set_by(function: JobFunction) -> set[str]:
    return {function.result} if function.result is not None else set(returned_names(function.signature.returned))


def _near(name: str, known: Iterable[str]) -> str:
    return "".join(f": did you mean '{near}'?" for near in get_close_matches(name, list(known), 1))
