"""One file for each event definition: how elements wait for it, what throws it, and what it starts. `table` lists them.

Entry: `table.EVENT_BEHAVIOURS`.
Imports: bpmn, expressions, feel, records, shared, state.
"""
