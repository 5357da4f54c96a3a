"""Connectors: jobs that the program works itself, and webhooks that start and continue process instances.

Entry: `dispatcher.ConnectorDispatcher`, `webhooks`.
Imports: core, storage, appender, definitions, documents, jobs, outcomes, supervision, tracing.
"""
