"""The client for Python programs (docs/client.md): typed, blocking or under asyncio and Trio. Nothing happens twice.

Entry: `synchronous.ViveroClient`, `asynchronous.AsyncViveroClient`.
Imports: config, records.
"""
