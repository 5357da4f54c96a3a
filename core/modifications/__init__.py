"""Modification of a process instance: all checks first, then the effects: elements that begin, and elements that end.

Entry: `plan.effects_of`.
Imports: bpmn, events, records, shared, state, undos.
"""
