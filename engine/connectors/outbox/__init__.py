"""The outbox: events of the log, delivered to a URL in the order of their instance trees.

Entry: `deliveries.Outbox`, `settings.OutboxSettings`.
Imports: core, storage, http, jobs, tracing.
"""
