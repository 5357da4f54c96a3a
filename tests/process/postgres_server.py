"""The embedded PostgreSQL of a data root, from outside: its processes, and what may happen to them."""

import os
import re
import signal
from contextlib import ExitStack, contextmanager

import psutil
import psycopg
import trio

from vivero.embedded.layout import open_layout

FROZEN_S = 7.0
"""Longer than the deadline of any call."""

REFUSES_S = 3.0


class Server:
    """One of them. What is done to it ends when it does."""

    def __init__(self, root) -> None:
        self.root = root

    @property
    def dsn(self):
        return open_layout(self.root).dsn()

    @property
    def postmaster(self):
        return int(re.findall(r"runs as process (\d+)", (self.root / "supervisor.log").read_text())[-1])

    @property
    def supervisor(self):
        return int((self.root / "supervisor.lock").read_text())

    async def kill_postmaster(self):
        os.kill(self.postmaster, signal.SIGKILL)

    async def stop_immediately(self):
        os.kill(self.postmaster, signal.SIGQUIT)

    async def stop_fast(self):
        os.kill(self.postmaster, signal.SIGINT)

    async def kill_supervisor(self):
        os.kill(self.supervisor, signal.SIGKILL)

    async def kill_both(self):
        """Those that run: one that was killed during its start has not written its number yet."""
        for process in psutil.process_iter(["cmdline"]):
            if str(self.root) in " ".join(process.info["cmdline"] or ()) and process.pid in self._known():
                process.kill()

    def _known(self):
        try:
            return {self.supervisor, self.postmaster}
        except (OSError, ValueError, IndexError):
            return set()

    async def freeze(self):
        """It stands still for a while."""
        with self.frozen():
            await trio.sleep(FROZEN_S)

    @contextmanager
    def frozen(self):
        """Every process of it stands still: connections stay open, and nothing answers."""
        whole = [psutil.Process(self.postmaster)]
        whole += whole[0].children()
        for process in whole:
            process.suspend()
        try:
            yield
        finally:
            for process in reversed(whole):
                process.resume()

    async def read_only(self):
        """As after a failover to a standby: reads work, writes are refused."""
        with self._session() as connection:
            connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            connection.execute("SELECT pg_reload_conf()")
            await trio.sleep(REFUSES_S)
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")

    async def no_connection_left(self):
        """Everybody's sessions are ended, and others take their places."""
        with ExitStack() as taken:
            first = taken.enter_context(self._session())
            first.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'vivero:%'"
            )
            until = trio.current_time() + REFUSES_S
            while trio.current_time() < until:
                try:
                    taken.enter_context(self._session())
                except psycopg.OperationalError:
                    await trio.sleep(0.05)

    async def table_lock(self):
        """Somebody changes a table, and takes his time."""
        with self._session() as connection, connection.transaction():
            connection.execute("LOCK TABLE jobs, event_log IN ACCESS EXCLUSIVE MODE")
            await trio.sleep(REFUSES_S)

    def _session(self):
        return psycopg.connect(self.dsn, autocommit=True, application_name="test")
