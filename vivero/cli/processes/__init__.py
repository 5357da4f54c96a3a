"""Commands that change processes: deploy, start, complete, cancel, resolve, delete.

Entry: `deploy`, `start`, `changes`.
Imports: core, api, client, config, looking, shared, terminal, worker.
"""
