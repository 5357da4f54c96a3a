"""Commands that change processes: deploy, start, complete, cancel, resolve, delete.

Entry: `deploy`, `start`, `changes`.
Imports: core, api, client, config, importing, looking, shared, terminal, worker.
"""
