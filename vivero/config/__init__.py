"""Settings, and what follows from them: roles, connections, memory. Files and JSON that people write.

Entry: `sections.Config`, `sources.load`, `budget`.
Imports: core, storage, engine, api, logs, metrics, tracing, web.
"""
