"""The exceptions of the embedded server. Their texts are for people at a terminal."""


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used. The message says why, and what to do."""


class GivenUp(EmbeddedPostgresError):
    """The server died too often within a minute. It is not restarted before that minute has passed."""


class StartTimeout(EmbeddedPostgresError, TimeoutError):
    """The server was not ready in time. It may still be recovering, and a later attempt is safe."""
