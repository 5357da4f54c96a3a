"""Alert rules: the chores that evaluate them and deliver their notices (docs/alert-rules.md).

Entry: `chores`.
Imports: storage, connectors, jobs.
"""
