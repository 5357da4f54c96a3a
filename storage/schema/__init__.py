"""The schema: numbered migrations, `schema.sql` as their sum, installations, and checks whether a database is fit.

Entry: `migrate.migrate`, `checks.check`.
Imports: postgres.
"""
