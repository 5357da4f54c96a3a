"""DMN: decision models in, compiled decisions or all problems of the files out, and their evaluation.

Entry: `read_decisions`, `Decisions`, `evaluation.evaluate`.
Imports: bpmn, feel.
"""

from vivero.core.dmn.decisions import Decisions, ReadDecisions, read_decisions
from vivero.core.dmn.evaluation import DecisionEvaluation, DecisionResult, Failure, evaluate, evaluate_service

__all__ = [
    "DecisionEvaluation",
    "DecisionResult",
    "Decisions",
    "Failure",
    "ReadDecisions",
    "evaluate",
    "evaluate_service",
    "read_decisions",
]
