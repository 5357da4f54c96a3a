"""DMN: decision models in, compiled decisions or all problems of the files out, and their evaluation.

Entry: `read_decisions`, `check_decisions`, `Decisions`, `evaluation.evaluate`.
Imports: bpmn, feel.
"""

from vivero.core.dmn.decisions import CheckedDecisions, Decisions, ReadDecisions, check_decisions, read_decisions
from vivero.core.dmn.evaluation import DecisionEvaluation, DecisionResult, Failure, evaluate, evaluate_service

__all__ = [
    "CheckedDecisions",
    "DecisionEvaluation",
    "DecisionResult",
    "Decisions",
    "Failure",
    "ReadDecisions",
    "check_decisions",
    "evaluate",
    "evaluate_service",
    "read_decisions",
]
