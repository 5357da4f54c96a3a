"""Agents of other systems by the Agent2Agent protocol: their cards, messages to them, their tasks.

Entry: `agent.A2aAgent`, `polls.AgentPolls`.
Imports: core, contracts, http, jobs, outbound, receivers, work.
"""
