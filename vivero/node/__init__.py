"""The tasks of one node and how they are connected.

Entry: `tree.build`, `part.NodePart`, `node_events`.
Imports: core, storage, engine, api, config, library, logs, metrics, tracing, web.
"""
