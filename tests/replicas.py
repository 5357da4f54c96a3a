"""PostgreSQL servers that a test starts, stops and promotes by itself: a primary and its standbys, over TCP."""

import os
import signal
import subprocess
from contextlib import suppress
from functools import partial

import psycopg
import trio

from tests.eventually import eventually
from tests.process.program import free_port
from vivero.embedded.binaries import find_installation
from vivero.embedded.processes import dying_with_us
from vivero.embedded.server_user import give_directory, reachable_installation, server_user

PARAMETERS = {
    "max_connections": "50",
    "shared_buffers": "32MB",
    "wal_level": "replica",
    "max_wal_senders": "4",
    "wal_keep_size": "64MB",
    "hot_standby": "on",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
    "timezone": "UTC",
}


class Replica:
    """A data directory and, between `start` and `stop`, its postmaster. The server listens on a port of 127.0.0.1."""

    def __init__(self, directory, name) -> None:
        self.name = name
        self.port = free_port()
        self.dsn = f"host=127.0.0.1 port={self.port} user=postgres dbname=vivero"
        self._directory = directory / name
        self._user = server_user(self._directory) if os.geteuid() == 0 else None
        self._directory.mkdir(mode=0o700)
        found = find_installation()
        if self._user is not None:
            give_directory(self._directory, self._user)
            found = reachable_installation(found, directory / f"{name}-bin", self._user)
        self._bin = found.bin
        self._data = self._directory / "data"
        self._log = directory / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    # ---- its data

    async def initialise(self, **parameters):
        """A new cluster with an empty database `vivero`; it runs afterwards, with these settings."""
        await self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        await self.start(**parameters)
        self.sql("CREATE DATABASE vivero TEMPLATE template0 ENCODING 'UTF8'", dbname="postgres")

    async def copy(self, primary):
        """Become a standby of `primary`; it runs afterwards, and has caught up."""
        await self._run("pg_basebackup", "-R", "-c", "fast", "--no-sync", "-d", self._source(primary), data="-D")
        await self.start()
        await eventually(lambda: self._follows(primary), f"{self.name} follows {primary.name}")

    async def caught_up(self, primary):
        """Wait until this standby has all that `primary` has written by now."""
        ((lsn,),) = primary.sql("SELECT pg_current_wal_flush_lsn()::text")

        async def has_it():
            return self.sql("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", lsn) == [(True,)]

        await eventually(has_it, f"{self.name} has {lsn}")

    async def back_up(self, primary):
        """Take a base backup of `primary`, as it is documented. It does not run."""
        options = ("--checkpoint=fast", "--wal-method=none", "--no-sync", "-d", self._source(primary))
        await self._run("pg_basebackup", *options, data="-D")

    async def recover(self, archive, **target):
        """Start a base backup and replay the archived WAL up to a target; it runs afterwards, and accepts writes."""
        (self._data / "recovery.signal").touch()
        if self._user is not None:
            give_directory(self._data, self._user)
        settings = {"restore_command": f"cp {archive}/%f %p", "recovery_target_action": "promote", **target}
        await self.start(**settings)
        await eventually(self._is_primary, f"{self.name} has recovered")

    async def _is_primary(self):
        return self.sql("SELECT pg_is_in_recovery()", dbname="postgres") == [(False,)]

    async def archived(self, archive):
        """Wait until all WAL that is written now is in the archive."""
        ((segment,),) = self.sql("SELECT pg_walfile_name(pg_current_wal_lsn())")
        self.sql("SELECT pg_switch_wal()")

        async def there():
            return (archive / segment).exists()

        await eventually(there, f"{segment} is archived")

    def _source(self, primary):
        return f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.name}"

    async def _follows(self, primary):
        states = primary.sql("SELECT state FROM pg_stat_replication WHERE application_name = %s", self.name)
        return states == [("streaming",)]

    async def _run(self, binary, *arguments, data="-D"):
        command = [self._bin / binary, data, self._data, *arguments]
        run = partial(trio.run_process, capture_stdout=True, capture_stderr=True, check=False)
        ended = await run(command, **self._as_user())
        assert ended.returncode == 0, f"{binary} for {self.name} ended with {ended.returncode}: {ended.stderr.decode()}"

    def _as_user(self):
        environment = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ["PATH"]}
        user = {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid}
        return {"env": environment, "cwd": "/", **user}

    # ---- its process

    async def start(self, **parameters):
        """Start the postmaster, and wait until it answers. `parameters` are settings for this start."""
        settings = PARAMETERS | {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""} | parameters
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [self._bin / "postgres", "-D", self._data, "-p", str(self.port), *options]
        self._process = self._spawn(command)
        await eventually(self._answers, f"{self.name} answers:\n{self.said()}")

    def _spawn(self, command):
        with self._log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=dying_with_us(), **self._as_user())

    async def _answers(self):
        assert self._process.poll() is None, f"{self.name} has ended:\n{self.said()}"
        with suppress(psycopg.OperationalError):
            self.sql("SELECT 1", dbname="postgres")
            return True
        return False

    def said(self):
        """The end of its log."""
        return "\n".join(self._log.read_text().splitlines()[-20:]) if self._log.exists() else "it has never run"

    async def stop(self, how=signal.SIGQUIT):
        """End it: SIGQUIT is an immediate stop, SIGINT a fast one."""
        self._process.send_signal(how)
        await eventually(self._has_ended, f"{self.name} ends")

    async def _has_ended(self):
        return self._process.poll() is not None

    def promote(self):
        """Make a standby the primary; returns when it accepts writes."""
        assert self.sql("SELECT pg_promote(true, 30)") == [(True,)]

    def end(self):
        """End the server."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)

    # ---- questions

    def allow(self, *lines):
        """Replace the rules of who may connect."""
        (self._data / "pg_hba.conf").write_text("\n".join(lines) + "\n")
        self.sql("SELECT pg_reload_conf()")

    def own_directory(self, directory):
        """Make a directory that belongs to the server's user."""
        directory.mkdir(mode=0o700)
        if self._user is not None:
            give_directory(directory, self._user)
        return directory

    def session(self, dbname="vivero"):
        """A session in autocommit, as a context manager."""
        return psycopg.connect(psycopg.conninfo.make_conninfo(self.dsn, dbname=dbname), autocommit=True)

    def sql(self, statement, *parameters, dbname="vivero"):
        """One statement, in autocommit; its rows."""
        dsn = psycopg.conninfo.make_conninfo(self.dsn, dbname=dbname, connect_timeout=2)
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []


def dsn_of(*replicas, **parameters):
    """One DSN for all of them, in this order."""
    hosts = ",".join("127.0.0.1" for _ in replicas)
    ports = ",".join(str(replica.port) for replica in replicas)
    return psycopg.conninfo.make_conninfo(host=hosts, port=ports, user="postgres", dbname="vivero", **parameters)
