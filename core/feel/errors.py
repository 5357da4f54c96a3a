"""The exceptions of expressions.

A problem inside an evaluation normally raises no exception: the operation gives null and adds a `Warning` (Camunda's
rule). Invalid text raises `ParseError`. The few failures that end a whole evaluation raise `EvaluationError`.
"""

from __future__ import annotations


class FeelError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class ParseError(FeelError):
    """The text is not a valid expression. `line` and `column` count from 1; `expected` says what belongs there."""

    def __init__(self, message: str, line: int = 1, column: int = 1, expected: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.expected = expected


class EvaluationError(FeelError):
    """The evaluation as a whole failed, for example by `assert()`.

    `type` is one of the warning types. `steps` counts the steps up to the failure.
    """

    def __init__(self, message: str, type: str = "UNKNOWN") -> None:
        super().__init__(message)
        self.type = type
        self.steps = 0


class LimitExceeded(EvaluationError):
    """The evaluation exceeded one of its `FeelLimits`. `limit` is the name of the field."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message, "LIMIT_EXCEEDED")
        self.limit = limit


class FunctionFailure(Exception):
    """A built-in function failed: its call gives null and a warning with this message."""


class IllegalArguments(FunctionFailure):
    """No case of the built-in fits the arguments. The caller adds the message: `Illegal arguments: '1', 'null'`."""
