"""AI agents: jobs that ask models of providers, and what limits them (docs/agents.md).

Entry: `worker.Agent`.
Imports: core, storage, contracts, http, jobs, outbound, work.
"""
