"""Gateways: elements that stand for the tools of another system, which are asked for before the model is.

Entry: `mcp.discovery_calls`, `mcp.routed`.
Imports: bpmn, feel, memory.
"""
