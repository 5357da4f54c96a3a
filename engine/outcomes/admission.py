"""Errors of commands that were not, or perhaps not, appended. The API maps them to problems."""


class NotAppended(Exception):
    """The command is not in the log, or perhaps not."""


class Overloaded(NotAppended):
    """A limit was reached; certainly nothing was written (503 RESOURCE_EXHAUSTED: clients retry)."""


class Unavailable(NotAppended):
    """PostgreSQL could not be reached in time; certainly nothing was written (503 UNAVAILABLE)."""


class Draining(NotAppended):
    """The program is stopping and takes no more commands; certainly nothing was written (503 UNAVAILABLE)."""


class ValueRejected(NotAppended):
    """PostgreSQL rejects a value of this command; certainly nothing was written (400 INVALID_ARGUMENT)."""


class Lost(NotAppended):
    """A crash of PostgreSQL lost the command; it certainly had no effect (503 UNAVAILABLE)."""


class InDoubt(NotAppended):
    """It may have been written: the deadline passed, or a repetition failed before its outcome was known (504)."""
