"""Migration of process instances: which mappings fit, what a migration opens and closes, and suggested mappings.

Entry: `plan.Plan`, `checks.violations`, `catching.changes`.
Imports: bpmn, elements, events, expressions, records, shared, state.
"""
