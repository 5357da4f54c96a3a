"""Expressions of models: their values in the scope of an element, their results as texts and JSON, and their budget.

Entry: `evaluation.Expressions`, `budget.StageBudget`, `results`.
Imports: bpmn, feel, records, state.
"""
