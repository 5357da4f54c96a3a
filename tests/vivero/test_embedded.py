"""The embedded server as a program uses it."""

import psycopg


def test_database_is_fresh_and_empty(database: str) -> None:
    with psycopg.connect(database) as connection:
        assert connection.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        ).fetchone() == (0,)
        assert connection.execute("SHOW fsync").fetchone() == ("off",)
