"""What can go wrong with the embedded server. The texts are meant for the person at the terminal."""


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used; the message says why and what to do."""


class GivenUp(EmbeddedPostgresError):
    """The server has died too often within a minute. It is not started again before that minute is over."""


class StartTimeout(EmbeddedPostgresError, TimeoutError):
    """The server was not ready in time. It may still be recovering: trying again later is safe."""
