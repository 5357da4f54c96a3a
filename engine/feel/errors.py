"""What can go wrong with an expression, by whose fault.

A problem inside an evaluation is normally no exception at all: the operation gives null and leaves a `Warning` behind
(Camunda's rule). Exceptions are for text that is no expression (`ParseError`) and for the few failures that end a whole
evaluation (`EvaluationError`).
"""

from __future__ import annotations


class FeelError(Exception):
    """Base of everything that this package raises on purpose."""


class ParseError(FeelError):
    """The text is no expression. `line` and `column` count from 1; `expected` names what would have been accepted."""

    def __init__(self, message: str, line: int = 1, column: int = 1, expected: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.expected = expected


class EvaluationError(FeelError):
    """The evaluation as a whole failed, for example by `assert()`. `type` is one of the warning types; `steps`: what
    it had taken by then."""

    def __init__(self, message: str, type: str = "UNKNOWN") -> None:
        super().__init__(message)
        self.type = type
        self.steps = 0


class LimitExceeded(EvaluationError):
    """The evaluation ran into one of its `Limits`. `limit` is the field's name in `Limits`."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message, "LIMIT_EXCEEDED")
        self.limit = limit


class FunctionFailure(Exception):
    """Raised by a built-in function: its call gives null and a warning with this message."""


class IllegalArguments(FunctionFailure):
    """No case of the built-in fits these arguments: the caller words it, `Illegal arguments: '1', 'null'`."""
