"""AI agents: the loop of model calls and tool calls as functions, without a provider, a network or a clock.

Entry: `loop.begin`, `loop.take`, `wires.table.WIRES`.
Imports: bpmn, feel.
"""
