"""The schema: numbered migrations, the installations of a database, and checks whether it is fit.

Entry: `migrate.migrate`, `checks.check`.
Imports: postgres.
"""
