"""Dry runs: what a command would do with an instance tree that is in memory, as lines, effects and problems.

Entry: `trial.Trial`, `report.report_of`.
Imports: bpmn, execution, feel, records, shared, state.
"""
