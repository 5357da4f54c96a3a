"""Receivers: tasks that fetch events from other systems, for elements with inbound connectors that are no webhooks.

Entry: `task.Receivers`, `receiver.Receiver`.
Imports: core, storage, compute, contracts, definitions, http, inbound, outbound, supervision, work.
"""
