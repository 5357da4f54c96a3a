"""The program around a node: PostgreSQL and its schema, sockets, signals, a first administrator, the demonstration.

Entry: `program.up`, `database.prepare`.
Imports: core, storage, engine, api, client, config, embedded, logs, node, terminal, worker.
"""
