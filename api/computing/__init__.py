"""Work of requests that leaves the event loop for compute processes: large bodies, files, expressions.

Entry: `turns.computed`, `evaluation`.
Imports: core, storage, engine, http.
"""
