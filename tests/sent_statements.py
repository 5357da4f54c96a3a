"""The statements that connections to PostgreSQL send, by name, in their order.

Without the one that begins a session: when a pool opens a connection has nothing to do with the request.
"""

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.queries import label
from vivero.storage.postgres.session_settings import BEGIN_SESSION


def record_statements(monkeypatch):
    """A list to which every connection adds the names of what it sends, until the end of the test."""
    sent = []

    def record(name, queries):
        usual = getattr(Connection, name)

        def call(self, *arguments, **options):
            sent.extend(label(query) for query in queries(arguments[0]) if query != BEGIN_SESSION)
            return usual(self, *arguments, **options)

        monkeypatch.setattr(Connection, name, call)

    record("execute", lambda query: [query])
    record("pipeline", lambda calls: [query for query, _ in calls])
    record("start_pipeline", lambda calls: [query for query, _ in calls])
    return sent
