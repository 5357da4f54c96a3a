"""Work on a database beside the server: backups, and what `vivero doctor` judges.

Entry: `backups.take`, `backups.restore`, `doctor.judge`, `document_stores.examine`.
Imports: core, storage, engine, config, embedded.
"""
