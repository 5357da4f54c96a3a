"""Documents: their settings, the pace of their parts, and the chores that delete them (docs/documents.md).

Entry: `settings.DocumentSettings`, `pace.Pace`, `chores`.
Imports: storage, jobs, retention.
"""
