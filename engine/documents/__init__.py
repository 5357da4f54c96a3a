"""Documents: their settings and stores, the pace of their parts, and the chores that delete them (docs/documents.md).

Entry: `settings.DocumentSettings`, `stores.DocumentStores`, `uploads.ContentUpload`, `chores`.
Imports: storage, buckets, jobs, retention.
"""
