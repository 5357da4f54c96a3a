"""Documents: files that clients keep beside their processes, in parts; and the secrets that sign links to them.

Entry: `documents`, `contents`, `link_keys`.
Imports: access, postgres.
"""
