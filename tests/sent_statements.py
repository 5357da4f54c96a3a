"""The statements that connections to PostgreSQL send, by name, in their order."""

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.queries import label


def record_statements(monkeypatch):
    """A list to which every connection adds the names of what it sends, until the end of the test."""
    sent = []

    def record(name, queries):
        usual = getattr(Connection, name)

        def call(self, *arguments, **options):
            sent.extend(map(label, queries(arguments[0])))
            return usual(self, *arguments, **options)

        monkeypatch.setattr(Connection, name, call)

    record("execute", lambda query: [query])
    record("pipeline", lambda calls: [query for query, _ in calls])
    record("start_pipeline", lambda calls: [query for query, _ in calls])
    return sent
