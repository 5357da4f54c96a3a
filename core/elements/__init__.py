"""One file for each BPMN element, with its behaviour in each stage. `defaults` has the behaviour that files omit.

Entry: `defaults`, `service_task`, `multi_instance`.
Imports: bpmn, dmn, events, expressions, feel, records, shared, state.
"""
