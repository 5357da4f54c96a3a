"""Commands for those who operate a server: start, migrate, back up, check, partitions, background jobs.

Entry: `up`, `backup`, `doctor`.
Imports: core, storage, engine, api, client, config, embedded, logs, looking, operations, processes, program,
shared, terminal.
"""
