"""The files of a deployment: problems, checks that need the server, and warnings.

Entry: `problems.examine`.
Imports: core, storage, engine, computing, http.
"""
