"""Agents of other systems by the Agent2Agent protocol: their cards, messages to them, their tasks.

Entry: `agent.A2aAgent`.
Imports: core, contracts, http, jobs, outbound, work.
"""
