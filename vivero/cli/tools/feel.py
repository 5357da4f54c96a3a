"""The command `feel`: evaluate an expression without a server."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import JSON_OBJECT
from vivero.core.feel import FeelError, compile_expression, from_json, to_json
from vivero.terminal.texts import echo


@click.command()
@click.argument("expression")
@click.option(
    "--context", type=JSON_OBJECT, default="{}", help="Variables: a JSON object, @file, or @- for standard input."
)
def feel(expression: str, context: dict[str, Any]) -> None:
    """Evaluate a FEEL expression. Prints its value as JSON on stdout and its warnings on stderr.

    \b
    Examples:
      vivero feel 'sum(prices) * 1.19' --context '{"prices": [3, 4]}'
      vivero feel 'date("2026-11-21") + duration("P1M")'
    """
    try:
        compiled = compile_expression(expression.removeprefix("="))
        value, warnings = compiled.evaluate(from_json(json.dumps(context)), now=time.time_ns() // 1_000_000)
        text = to_json(value)
    except FeelError as error:
        raise Failure(str(error)) from error
    echo(text)
    for warning in warnings:
        echo(f"warning: {warning.message}", err=True)
