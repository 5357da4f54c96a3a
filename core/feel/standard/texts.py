"""The text of a value as FEEL that gives the value again, which `string()` of DMN gives for lists and contexts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from vivero.core.feel.grammar.lexer import is_plain_name
from vivero.core.feel.semantics import text_of as plain_text_of
from vivero.core.feel.temporal import TEMPORAL_TYPES, YearMonthDuration
from vivero.core.feel.values import Range, Run

MOST_DIGITS = 100
"""Numbers with more digits before or behind the point are written with an exponent."""
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted(text: str) -> str:
    """A string literal of FEEL."""
    return f'"{text.translate(_ESCAPES)}"'


def text_of(run: Run, value: Any) -> str:
    """The text that `string()` gives. Raises LimitExceeded if it is too long."""
    parts: list[str] = []
    _Writer(run, parts, with_literals=False).write(value)
    return "".join(parts)


def literal_of(run: Run, value: Any) -> str:
    """FEEL text whose value is `value`. Functions become null. Raises LimitExceeded if the text is too long."""
    parts: list[str] = []
    _Writer(run, parts, with_literals=True).write(value)
    return "".join(parts)


class _Writer:
    """Collects the parts of a text. `with_literals`: temporals are written as literals, `@"2026-01-31"`."""

    __slots__ = ("_literals", "_parts", "_run", "_size")

    def __init__(self, run: Run, parts: list[str], with_literals: bool) -> None:
        self._run, self._parts, self._literals, self._size = run, parts, with_literals, 0

    def put(self, text: str) -> None:
        self._size += len(text)
        self._run.check_string(self._size)
        self._parts.append(text)

    def write(self, value: Any) -> None:
        if type(value) is str:
            self.put(quoted(value))
        elif type(value) is list:
            self._list(value)
        elif type(value) is dict:
            self._context(value)
        elif type(value) is Range:
            self._range(value)
        else:
            self.put(self._scalar(value))

    def _list(self, items: list[Any]) -> None:
        self._run.spend(8 + 8 * len(items))
        self.put("[")
        for index, item in enumerate(items):
            self.put(", " if index else "")
            self.write(item)
        self.put("]")

    def _context(self, entries: dict[str, Any]) -> None:
        self._run.spend(8 + 8 * len(entries))
        self.put("{")
        for index, (key, value) in enumerate(entries.items()):
            name = key if is_plain_name(key) or (_is_key(key) and not self._literals) else quoted(key)
            self.put(f"{', ' if index else ''}{name}: ")
            self.write(value)
        self.put("}")

    def _range(self, value: Range) -> None:
        if self._literals and (value.start is None) != (value.end is None):
            self._half_range(value)
            return
        self.put("[" if value.start_included else "(")
        for end, separator in ((value.start, ".."), (value.end, "")):
            if end is not None:
                self.write(end)
            self.put(separator)
        self.put("]" if value.end_included else ")")

    def _half_range(self, value: Range) -> None:
        """A range with one end, which only a comparison denotes."""
        sign, end, included = ("<", value.end, value.end_included)
        if value.end is None:
            sign, end, included = (">", value.start, value.start_included)
        self.put(f"({sign}{'=' if included else ''} ")
        self.write(end)
        self.put(")")

    def _scalar(self, value: Any) -> str:
        if isinstance(value, Decimal) and self._literals and abs(value.adjusted()) < MOST_DIGITS:
            return format(value, "f")
        if not isinstance(value, TEMPORAL_TYPES):
            is_scalar = value is None or isinstance(value, bool) or not callable(getattr(value, "call", None))
            return plain_text_of(self._run, value) if is_scalar or not self._literals else "null"
        text = "P0M" if isinstance(value, YearMonthDuration) and value.months == 0 else str(value)
        return f'@"{text}"' if self._literals else text


def _is_key(key: str) -> bool:
    return all(map(is_plain_name, key.split(" "))) if key.strip() else False
