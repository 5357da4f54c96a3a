"""The audit of an evaluation: what each decision saw, which rules matched, and what it gave, in bounded texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivero.core.dmn import DecisionEvaluation, DecisionResult
from vivero.core.dmn.compiling.linking import Key
from vivero.core.dmn.compiling.tables import MatchedRule
from vivero.core.dmn.model import Context, Invocation, ListOf, Relation, Table, Text
from vivero.core.feel import EvaluationError, to_json
from vivero.core.feel.semantics import display
from vivero.core.feel.values import DEFAULT_LIMITS
from vivero.core.records.decision_evaluations import EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluatedRule
from vivero.core.state.catalogue import DecisionVersion

VALUE_CHARACTERS = 8_000
"""Characters of a value that an audit keeps."""
VALUE_PARTS = 500
"""Scalars, brackets and commas of a longer value that an audit shows: each costs more than the characters it gives."""
AUDIT_CHARACTERS = 400_000
"""Characters of all values of an evaluation that its audit keeps."""
AUDITED_RULES = 1_000
"""Rules of an evaluation that its audit keeps."""
ELLIPSIS = "…"
"""The end of a text that was cut, and the id of the rule that stands for the others."""

_NAME_CHARACTERS = 60
_LIMITS = replace(DEFAULT_LIMITS, output_size=VALUE_CHARACTERS)
TYPES: Mapping[type, str] = {
    Table: "DECISION_TABLE",
    Text: "LITERAL_EXPRESSION",
    Context: "CONTEXT",
    ListOf: "LIST",
    Relation: "RELATION",
    Invocation: "INVOCATION",
}
"""The kind of a decision's logic → its name in the REST API. All others are UNKNOWN there."""


def type_of(logic: object) -> str:
    """The type of a decision in the REST API."""
    return TYPES.get(type(logic), "UNKNOWN")


class Audit(NamedTuple):
    """The decisions of an evaluation in their order, and the characters of JSON whose encoding took as long."""

    decisions: tuple[EvaluatedDecision, ...]
    characters: int


def audited(evaluation: DecisionEvaluation, versions: Mapping[Key, DecisionVersion]) -> Audit:
    """The audit of an evaluation. `versions`: those of all its decisions."""
    texts = _Texts()
    decisions = tuple(_decision(each, versions[each.key], texts) for each in evaluation.decisions)
    return Audit(decisions, texts.characters)


def _decision(result: DecisionResult, version: DecisionVersion, texts: _Texts) -> EvaluatedDecision:
    decision, table = result.decision, result.decision.logic
    inputs: tuple[EvaluatedInput, ...] = ()
    rules: tuple[EvaluatedRule, ...] = ()
    if isinstance(table, Table):
        inputs = tuple(
            EvaluatedInput(column.id, _short(column.label or column.expression.text), texts.of(value))
            for column, value in zip(table.inputs, result.inputs, strict=False)
        )
        rules = _rules(result.matched, table, texts)
    value = texts.of(result.value)
    return EvaluatedDecision(
        version.key, decision.id, decision.name or decision.id, version.version, type_of(table), value, inputs, rules
    )


def _rules(matched: Sequence[MatchedRule], table: Table, texts: _Texts) -> tuple[EvaluatedRule, ...]:
    """The rules that matched. One with the id `…` and the index 0 stands for those that are left out."""
    shown = matched[: texts.rules_left]
    texts.rules_left -= len(shown)
    rules = [
        EvaluatedRule(
            table.rules[each.rule].id,
            each.rule + 1,
            tuple(
                EvaluatedOutput(column.id, _short(column.label or column.name or column.id), texts.of(value))
                for column, value in zip(table.outputs, each.outputs, strict=False)
            ),
        )
        for each in shown
    ]
    if len(shown) < len(matched):
        rules.append(EvaluatedRule(ELLIPSIS, 0, ()))
    return tuple(rules)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else name[:_NAME_CHARACTERS] + ELLIPSIS


class _Texts:
    """The texts of the values of one evaluation, within its limits."""

    def __init__(self) -> None:
        self.rules_left = AUDITED_RULES
        self.characters = 0
        """Those of all texts. A text that was cut counts as the longest one, since it takes as long."""

    def of(self, value: Any) -> str:
        """The JSON text of a value. One that is too long, or no JSON, is shown by its first characters and `…`."""
        return self._text(value) if self.characters < AUDIT_CHARACTERS else ELLIPSIS

    def _text(self, value: Any) -> str:
        try:
            text = to_json(value, _LIMITS)
        except EvaluationError:
            self.characters += VALUE_CHARACTERS
            text = display(value, VALUE_CHARACTERS, VALUE_PARTS)[:VALUE_CHARACTERS].encode(errors="replace").decode()
            return text.rstrip(ELLIPSIS) + ELLIPSIS
        self.characters += len(text)
        return text
