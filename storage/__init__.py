"""SQL, by what it is for. Most modules have a `.sql` file beside them. Only this folder imports psycopg.

Entry: `postgres.driver`, `log.command_log`, `state.save`.
Imports: nothing of ours.
"""
