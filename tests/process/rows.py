"""Questions to the database of a test, which waits for an answer by asking again and again.

All questions of a test have one session: to begin one takes ten times as much CPU as to ask.
"""

import psycopg

_sessions: dict[str, psycopg.Connection] = {}


def rows(dsn, query, values=None):
    """The rows of a query. Not for tests that end sessions or PostgreSQL itself."""
    if dsn not in _sessions:
        _sessions[dsn] = psycopg.connect(dsn, autocommit=True)
    return _sessions[dsn].execute(query, values).fetchall()


def end_sessions():
    """End what `rows` has begun, after each test."""
    while _sessions:
        _sessions.popitem()[1].close()
