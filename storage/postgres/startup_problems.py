"""The reasons why a database cannot be used: one exception each, whose message says what to do."""


class StartupProblem(Exception):
    """The database cannot be used as it is."""


class UnreadableUrl(StartupProblem):
    """The connection string is malformed."""


class Unreachable(StartupProblem):
    """No server answers there, or it is not ready."""


class WrongCredentials(StartupProblem):
    """The server rejects this user or password."""


class UnknownDatabase(StartupProblem):
    """The server has no such database."""


class ServerTooOld(StartupProblem):
    """The server lacks features that the program's SQL needs."""


class CommitsNotDurable(StartupProblem):
    """The server would acknowledge commits that it can lose."""


class WrongEncoding(StartupProblem):
    """The database cannot hold all of Unicode."""


class PooledConnections(StartupProblem):
    """A proxy gives each transaction another session: locks and LISTEN do not work."""


class ReadOnlyServer(StartupProblem):
    """The server accepts no writes."""


class SeveralPrimaries(StartupProblem):
    """More than one of the hosts accepts writes, so commands could get lost or be processed twice."""


class WrongSchema(StartupProblem):
    """The search_path leads to a schema where this program must not work: the installation is in another one."""


class WrongSetting(StartupProblem):
    """A setting changes what statements mean, and only a superuser may take it back."""


class NotPermitted(StartupProblem):
    """This user lacks the right to create the program's tables, or to read and write them."""


class CannotEndOwnSessions(StartupProblem):
    """This user cannot end its own sessions, so the program could not replace a frozen owner of a partition."""


class SeveralProblems(StartupProblem):
    """More than one problem; `problems` holds each."""

    def __init__(self, problems: list[StartupProblem]) -> None:
        super().__init__("\n".join(f"- {problem}" for problem in problems))
        self.problems = problems
