"""Reports of workers about their jobs: from the body of a request to a command, for the API and for the test kit.

Entry: `reports.completion`, `reports.failure`, `reports.error`.
Imports: core, storage, http.
"""
