"""Functions that several elements, events and commands use: mappings, listeners, waits, flows, jobs, variables.

Entry: `mappings`, `flows`, `waits`.
Imports: bpmn, dmn, expressions, feel, records, state.
"""
