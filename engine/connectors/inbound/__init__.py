"""Inbound connectors: webhooks in models, who may call them, and which process has which path.

Entry: `webhooks`, `webhook_registry.WebhookRegistry`.
Imports: core, storage, compute, definitions, http, jobs, work.
"""
