"""Undo of operations on process instances: the command that takes one back exactly, or why there is none.

Entry: `inverse.inverse_of`.
Imports: bpmn, records.
"""
