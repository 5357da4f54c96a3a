"""Connectors: jobs that the program works itself, and webhooks that start and continue process instances.

Entry: `contents`, `dispatcher.ConnectorDispatcher`, `contract.Contract`.
Imports: core, storage, appender, jobs, outcomes, supervision, tracing.
"""
