"""Work outside of the log: executions of jobs, consumers of events, deliveries, definitions for connectors.

Entry: `job_executions`, `outbox`.
Imports: access, postgres.
"""
