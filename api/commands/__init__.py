"""The path of every command: append it, wait for its outcome, answer.

Entry: `submission.command`.
Imports: core, storage, engine, access, admission, callers, computing, http.
"""
