"""Functions that several elements, events and commands use: mappings, listeners, waits, flows, jobs, variables.

Entry: `mappings`, `flows`, `waits`.
Imports: bpmn, expressions, feel, records, state.
"""
