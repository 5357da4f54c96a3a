"""Why a command was not, or perhaps not, taken. The API maps these to problems (docs/design/log.md §2)."""


class NotAppended(Exception):
    """Base of what keeps a command out of the log."""


class Overloaded(NotAppended):
    """A limit was reached; certainly nothing was written (503 RESOURCE_EXHAUSTED: clients retry)."""


class Unavailable(NotAppended):
    """PostgreSQL could not be reached in time; certainly nothing was written (503 UNAVAILABLE)."""


class Draining(NotAppended):
    """The program is stopping and takes no more commands; certainly nothing was written (503 UNAVAILABLE)."""


class Refused(NotAppended):
    """PostgreSQL refuses a value of this command; certainly nothing was written (400 INVALID_ARGUMENT)."""


class Lost(NotAppended):
    """It was written, and a crash of PostgreSQL took it back; certainly nothing came of it (503 UNAVAILABLE)."""


class InDoubt(NotAppended):
    """It may have been written: the deadline passed, or a repetition failed before it could tell (504, never retried
    blindly)."""
