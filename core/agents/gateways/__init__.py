"""Gateways: elements that stand for the tools of another system, which are asked for before the model is.

Entry: `table.Gateways`, `table.discovered`, `table.routed`.
Imports: bpmn, feel, memory.
"""
