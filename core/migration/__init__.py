"""Migration of process instances: which mappings fit, what a migration opens and closes, and suggested mappings.

Entry: `plan.Plan`, `checks.violations`, `catching.changes`, `suggestions.suggest`.
Imports: bpmn, elements, events, expressions, feel, records, shared, state.
"""
