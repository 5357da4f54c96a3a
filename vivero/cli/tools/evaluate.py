"""The command `evaluate`: decisions of DMN files without a server, one by one or as a batch, and deployed ones."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from vivero.cli.shared import streams
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.files import shown_names
from vivero.cli.shared.options import JSON_OBJECT, PATH, json_option, say, say_encoded
from vivero.cli.shared.server_options import address_option, talk
from vivero.config.files import Unreadable, read_bytes, read_text
from vivero.config.json_input import parsed
from vivero.core.dmn import (
    Decisions,
    ReadDecisions,
    evaluate,
    evaluate_service,
    read_decisions,
)
from vivero.core.dmn.model import MODES
from vivero.core.feel import FeelError, from_json, to_json
from vivero.core.feel.closures.fragments import compile_fragment
from vivero.core.feel.standard import DMN
from vivero.core.feel.standard.texts import literal_of
from vivero.core.feel.values import FeelLimits, Run
from vivero.library.decision_reports import report
from vivero.terminal.texts import echo

CONTEXT_LIMITS = FeelLimits(source_length=4_000_000, steps=10_000_000)
"""The limits of a FEEL context, which may hold large variables."""


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, metavar="FILES...|ID", type=PATH)
@click.option("--decision", metavar="NAME", help="Id or name of the decision. Needed if the first file has several.")
@click.option("--variables", type=JSON_OBJECT, help="Variables: a JSON object, @file, or @- for standard input.")
@click.option("--context", "feel", metavar="FEEL", help="Variables as a FEEL context, or @file.")
@click.option("--mode", type=click.Choice(MODES), help="Evaluate as this does. Default: the file's property or origin.")
@click.option("--batch", metavar="FILE", help="Evaluate each line of JSON in FILE; `-` is standard input.")
@address_option
@json_option
def evaluate_(
    files: tuple[Path, ...],
    decision: str | None,
    variables: dict[str, Any] | None,
    feel: str | None,
    mode: str | None,
    batch: str | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Evaluate a decision of a DMN file without a server, or the deployed decision with an ID.

    Prints the result as JSON on stdout and warnings on stderr. The exit code is 1 if the file has problems, which are
    all shown, or if the evaluation fails. Further FILES are those that the first one imports. --json adds the decisions
    that were evaluated, the inputs of tables and the rules that matched.

    With the ID of a decision instead of a file, a server evaluates its latest version with --variables.

    --batch takes lines such as {"decision": "Discount", "context": "{total: 30}"}, or with "service" the name of a
    decision service. It prints one line for each, in order: {"result": FEEL} or {"error": TEXT}. What has a problem in
    the file fails when a line needs it, and the rest is evaluated.

    \b
    Examples:
      vivero evaluate discount.dmn --variables '{"total": 30}'
      vivero evaluate loan.dmn --decision Rate --context '{from: @"2026-01-31"}'
      vivero evaluate loan.dmn shared.dmn --batch - < cases.jsonl
      vivero evaluate Price --variables '{"total": 30}'
    """
    if len(files) == 1 and not files[0].suffix and not files[0].exists():
        if any(each is not None for each in (decision, feel, mode, batch)):
            raise click.UsageError("a server evaluates a decision by its id with --variables alone")
        _evaluate_deployed(str(files[0]), variables or {}, address, as_json)
        return
    if address is not None:
        raise click.UsageError("--address needs the id of a deployed decision, not files")
    if sum(each is not None for each in (variables, feel, batch)) > 1:
        raise click.UsageError("give one of --variables, --context and --batch")
    read = _read(files, mode)
    if batch is not None:
        _evaluate_lines(read, _lines(batch))
        return
    _show_problems(read)
    if read.decisions is None:
        raise Failure(f"{files[0]} cannot be evaluated: see the problems above")
    given = _given(feel) if feel is not None else from_json(json.dumps(variables or {}))
    _evaluate_one(read.decisions, decision, given, as_json, is_json=feel is None)


def _evaluate_deployed(id: str, variables: dict[str, Any], address: str | None, as_json: bool) -> None:
    """Print the result that a server gives. Raises Failure if the evaluation fails."""
    answer = talk(address, lambda client: client.evaluate_decision(id, variables))
    if as_json:
        say(answer)
    elif "output" not in answer:
        echo(f"queued as command {answer['commandPosition']}")
    elif answer["failureMessage"] is None:
        echo(answer["output"])
    if answer.get("failureMessage") is not None:
        raise Failure(answer["failureMessage"])


def _read(files: tuple[Path, ...], mode: str | None) -> ReadDecisions:
    try:
        contents = {name: read_bytes(file) for name, file in zip(shown_names(files), files, strict=True)}
    except Unreadable as error:
        raise Failure(str(error)) from error
    return read_decisions(contents, mode)


def _show_problems(read: ReadDecisions) -> None:
    for problem in read.problems:
        echo(problem, err=True)
    for warning in read.warnings:
        echo(f"warning: {warning}", err=True)


def _given(text: str) -> dict[str, Any]:
    """The variables of a FEEL context."""
    try:
        return context_of(read_text(Path(text[1:])) if text.startswith("@") else text)
    except (Unreadable, ValueError) as error:
        raise click.BadParameter(str(error), param_hint="--context") from error


def context_of(text: str) -> dict[str, Any]:
    """The value of a FEEL context. Raises ValueError."""
    try:
        value = compile_fragment(text, dialect=DMN, limits=CONTEXT_LIMITS)(Run({}, _now_ms(), CONTEXT_LIMITS))
    except FeelError as error:
        raise ValueError(str(error)) from error
    if not isinstance(value, dict):
        raise ValueError("the text must be a FEEL context, such as {total: 30}")
    return value


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _evaluate_one(
    decisions: Decisions, name: str | None, variables: Mapping[str, Any], as_json: bool, is_json: bool
) -> None:
    key = decisions.find(_only(decisions) if name is None else name)
    if key is None:
        raise Failure(f"there is no decision '{name}'; there are {_listed(decisions)}")
    evaluation = evaluate(decisions, key, variables, _now_ms(), is_json=is_json)
    if as_json:
        say_encoded(msgspec.json.encode(report(evaluation)).decode())
    elif evaluation.failure is None:
        echo(to_json(evaluation.value))
    for warning in evaluation.warnings:
        echo(f"warning: {warning.message}", err=True)
    if evaluation.failure is not None:
        raise Failure(evaluation.failure.text)


def _only(decisions: Decisions) -> str:
    found = decisions.files[0].decisions
    if len(found) != 1:
        raise click.UsageError(f"name one with --decision: there are {_listed(decisions)}")
    return found[0].id


def _listed(decisions: Decisions) -> str:
    return ", ".join(f"'{name}'" for name in decisions.names()) or "none"


# Batches --------------------------------------------------------------------------------------------------------------


def _lines(batch: str) -> Iterator[str]:
    """The lines of a batch that are not empty."""
    try:
        text = streams.read_input_text() if batch == "-" else read_text(Path(batch))
    except Unreadable as error:
        raise Failure(str(error)) from error
    return (line for line in text.splitlines() if line.strip())


def _evaluate_lines(read: ReadDecisions, lines: Iterator[str]) -> None:
    _show_problems(read)
    for line in lines:
        try:
            say({"result": result_of(read, line)})
        except ValueError as error:
            say({"error": str(error)})


def result_of(read: ReadDecisions, line: str) -> str:
    """The result of one line of a batch, as FEEL text. Raises ValueError, whose text is the reason of the failure."""
    decisions = read.usable
    if decisions is None:
        raise ValueError("; ".join(map(str, read.problems)))
    request = parsed(line)
    is_service = isinstance(request, dict) and "service" in request
    name = request.get("service" if is_service else "decision") if isinstance(request, dict) else None
    context = request.get("context") or "{}" if isinstance(request, dict) else None
    if not isinstance(name, str) or not isinstance(context, str):
        raise ValueError('a line is {"decision": NAME, "context": FEEL} or {"service": NAME, "context": FEEL}')
    key = decisions.find_service(name) if is_service else decisions.find(name)
    if key is None:
        raise ValueError(f"there is no decision{' service' if is_service else ''} '{name}'")
    variables = context_of(context)
    evaluation = (evaluate_service if is_service else evaluate)(decisions, key, variables, _now_ms())
    if evaluation.failure is not None:
        raise ValueError(evaluation.failure.text)
    try:
        return literal_of(Run({}), evaluation.value)
    except FeelError as error:
        raise ValueError(str(error)) from error
