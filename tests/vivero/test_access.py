"""Authentication of a whole program: what it refuses to start without, its first administrator, the command line."""

import errno
import getpass
import io
import json
import socket
import sys
from dataclasses import replace

import psycopg
import pytest
import structlog
from click.testing import CliRunner

from tests import plain_http
from tests.eventually import eventually_sync
from tests.server_objects import new_role
from vivero.api.access.passwords import verify
from vivero.api.access.tokens import digest
from vivero.cli import main
from vivero.client.rest import credentials_from
from vivero.config.sections import Config, ConfigError
from vivero.config.sources import load
from vivero.program import access
from vivero.program.access import NotProtected


def configured(host="127.0.0.1", **auth):
    config = Config()
    return replace(config, api=replace(config.api, host=host), auth=replace(config.auth, **auth))


class TestExposure:
    @pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
    def test_loopback_needs_no_authentication(self, host):
        access.check(configured(host))

    @pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "10.0.0.1", "vivero.example.com"])
    def test_everything_else_does(self, host):
        with pytest.raises(NotProtected, match="--insecure"):
            access.check(configured(host))
        access.check(configured(host, mode="required"))

    def test_the_log_says_so_at_every_start(self):
        with structlog.testing.capture_logs() as logged:
            access.check(configured("0.0.0.0", insecure=True))
        assert [entry["log_level"] for entry in logged] == ["warning"]

    def test_an_issuer_needs_an_audience(self):
        with pytest.raises(NotProtected, match="oidc_audience"):
            access.check(configured(mode="required", oidc_issuer="https://login.example.com"))

    @pytest.mark.process
    def test_the_program_checks(self, vivero):
        program = vivero("up", "--host", "0.0.0.0", "--port", "0")
        assert program.ends() == 1
        assert "set auth.mode to 'required'" in program.logged


@pytest.mark.parametrize("values", [{"auth.mode": "maybe"}, {"auth.cache_s": "0"}, {"auth.oidc_algorithms": "HS256"}])
def test_settings_that_are_refused(values):
    with pytest.raises(ConfigError):
        load(None, {}, values)


def test_a_password_is_in_no_message():
    with pytest.raises(ConfigError) as raised:
        load(None, {}, {"auth.admin_password": 4711})
    assert "4711" not in str(raised.value)
    assert "canary" not in repr(load(None, {}, {"auth.admin_password": "canary-password"}))


class TestFirstAdministrator:
    @pytest.fixture
    def stored(self, database):
        def read():
            with psycopg.connect(database) as connection:
                query = "SELECT username, password_hash, container_id FROM users JOIN members ON member_id = username"
                return connection.execute(query).fetchall()

        return read

    async def test_the_password_is_printed_once(self, database, stored, capsys):
        settings = configured(mode="required").auth
        with structlog.testing.capture_logs() as logged:
            await access.make_first_admin(database, settings)
        printed = capsys.readouterr().out
        password = printed.splitlines()[0].rpartition(" ")[2]
        [(name, password_hash, role)] = stored()
        assert (name, role) == ("admin", "admin")
        assert verify(password_hash, password)
        assert password not in str(logged)
        await access.make_first_admin(database, settings)
        assert capsys.readouterr().out == ""
        assert len(stored()) == 1

    async def test_a_password_of_the_settings_is_not_printed(self, database, stored, capsys):
        settings = configured(mode="required", admin_username="root", admin_password="of the settings").auth
        await access.make_first_admin(database, settings)
        [(name, password_hash, _role)] = stored()
        assert name == "root"
        assert verify(password_hash, "of the settings")
        assert "of the settings" not in capsys.readouterr().out

    async def test_a_short_password_is_refused_and_not_shown(self, database):
        with pytest.raises(NotProtected) as raised:
            await access.make_first_admin(database, configured(mode="required", admin_password="canary").auth)
        assert "canary" not in str(raised.value)

    async def test_a_password_that_cannot_be_printed_is_told(self, database, monkeypatch):
        class Full(io.StringIO):
            def write(self, _text):
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(sys, "stdout", Full())
        with (
            structlog.testing.capture_logs(),
            pytest.raises(NotProtected, match=r"was not printed: No space left on device\. Set one before"),
        ):
            await access.make_first_admin(database, configured(mode="required").auth)

    async def test_users_of_the_provider_who_are_refused_from_now_on_are_named(self, database):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO users (username, password_hash) VALUES ('ann', ''), ('bob', ''), ('joe', '')"
            )
            connection.execute(
                "INSERT INTO sessions (sha256, username, provider, claims, expires_at) VALUES"
                " ('1', 'ann', 'OIDC', '[]', 'tomorrow'), ('2', 'eve', 'OIDC', '[]', 'tomorrow'),"
                " ('3', 'joe', 'PASSWORD', '[]', 'tomorrow')"
            )
            connection.execute(
                "INSERT INTO api_tokens (name, sha256, roles, tenants, owner, owner_provider)"
                " VALUES ('t', '', '{}', '{}', 'bob', 'OIDC')"
            )
        provider = {"mode": "required", "oidc_issuer": "https://login.example.com", "oidc_audience": "vivero"}
        for more, names in (({}, [["ann", "bob"]]), ({"oidc_shared_names": "ann"}, [["bob"]])):
            with structlog.testing.capture_logs() as logged:
                await access.warn_of_taken_names(database, configured(**provider, **more).auth)
            assert [line["usernames"] for line in logged] == names
        with structlog.testing.capture_logs() as logged:
            await access.warn_of_taken_names(database, configured(mode="required").auth)
        assert logged == []

    async def test_without_authentication_there_is_none(self, database, stored):
        await access.make_first_admin(database, configured().auth)
        assert stored() == []


@pytest.fixture
def command(database):
    """Runs a command on the test's database."""

    def run(*arguments, fails=False, stdin=None):
        environment = {"VIVERO_DATABASE_URL": database, "VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "on"}
        result = CliRunner().invoke(main, arguments, input=stdin, env=environment)
        assert (result.exit_code != 0) is fails, result.output
        return result.stderr if fails else result.stdout

    return run


class TestCommandLine:
    def test_users(self, command, database):
        made = command("user", "add", "ann", "--role", "admin", "--name", "Ann A.")
        password = made.splitlines()[1].removeprefix("password ")
        assert json.loads(command("user", "list", "--json")) == {
            "username": "ann",
            "name": "Ann A.",
            "email": None,
            "roles": ["admin"],
        }
        with psycopg.connect(database) as connection:
            [(password_hash,)] = connection.execute("SELECT password_hash FROM users").fetchall()
        assert verify(password_hash, password)
        assert "already" in command("user", "add", "ann", fails=True)
        command("user", "password", "ann", "--password-stdin", stdin="another password\n")
        with psycopg.connect(database) as connection:
            [(password_hash,)] = connection.execute("SELECT password_hash FROM users").fetchall()
        assert verify(password_hash, "another password")
        assert "8 to 1024" in command("user", "password", "ann", "--password-stdin", stdin="short\n", fails=True)
        assert "last administrator" in command("user", "delete", "ann", fails=True)
        assert "last administrator" in command("role", "unassign", "admin", "ann", fails=True)
        command("user", "add", "bob", "--role", "admin")
        command("user", "delete", "ann")
        assert "no user" in command("user", "delete", "ann", fails=True)
        assert "bob" in command("user", "list")

    def test_sessions(self, command, database):
        insert = """INSERT INTO sessions (sha256, username, provider, expires_at)
            VALUES (%s, %s, 'PASSWORD', now() + %s * interval '1 hour')"""
        with psycopg.connect(database, autocommit=True) as connection:
            command("user", "sessions")  # migrates
            for sha256, name, hours in (b"1", "ann", 1), (b"2", "ann", 2), (b"3", "bob", 1), (b"4", "ann", -1):
                connection.execute(insert, (sha256, name, hours))
            connection.execute("LISTEN vivero_identities")
            assert [line.split()[0] for line in command("user", "sessions").splitlines()[1:]] == ["ann", "ann", "bob"]
            listed = [json.loads(line) for line in command("user", "sessions", "ann", "--json").splitlines()]
            assert [(each["username"], each["provider"]) for each in listed] == [("ann", "PASSWORD")] * 2
            assert command("user", "sign-out", "ann") == "2 sessions of ann ended\n"
            told = connection.notifies(timeout=5, stop_after=2)
            assert {each.payload for each in told} == {"", "sessions"}, "open polls end, too"
            assert command("user", "sessions").splitlines()[1].split()[0] == "bob"
            assert command("user", "sign-out", "nobody") == "0 sessions of nobody ended\n"
            records = connection.execute("SELECT entity_key, operation, description FROM audit_log").fetchall()
        assert records[0] == ("ann", "UPDATE", "vivero user sign-out ann")

    def test_roles(self, command):
        command("role", "assign", "operator", "ann@example.com")
        assert "USER ann@example.com" in command("role", "list")
        command("role", "unassign", "operator", "ann@example.com")
        assert "does not have" in command("role", "unassign", "operator", "ann@example.com", fails=True)
        assert "no role" in command("role", "assign", "emperor", "ann", fails=True)
        assert "not a valid name" in command("role", "assign", "operator", "a b", fails=True)

    def test_tokens(self, command, database):
        token = command("token", "create", "billing", "--role", "worker", "--expires", "90d").strip()
        assert token.startswith("vivero_")
        listed = command("token", "list")
        assert "billing" in listed
        assert token not in listed
        assert json.loads(command("token", "list", "--json"))["roles"] == ["worker"]
        assert "already" in command("token", "create", "billing", "--role", "worker", fails=True)
        assert "no role" in command("token", "create", "other", "--role", "emperor", fails=True)
        assert "no tenant" in command("token", "create", "other", "--role", "worker", "--tenant", "acme", fails=True)
        assert "not a lifetime" in command("token", "create", "other", "--role", "worker", "--expires", "x", fails=True)
        with psycopg.connect(database) as connection:
            assert token[7:] not in str(connection.execute("SELECT * FROM api_tokens").fetchall())
        rotated = command("token", "rotate", "billing").strip()
        with psycopg.connect(database) as connection:
            [(stored, expires)] = connection.execute("SELECT sha256, expires_at FROM api_tokens").fetchall()
        assert stored == digest(rotated) != digest(token)
        assert expires is not None
        command("token", "revoke", "billing")
        assert "no token" in command("token", "revoke", "billing", fails=True)
        assert "no token" in command("token", "rotate", "billing", fails=True)

    def test_each_change_is_recorded_without_its_secret(self, command, database):
        password = command("user", "add", "ann", "--role", "admin").splitlines()[1].removeprefix("password ")
        command("user", "delete", "ann", fails=True)
        command("role", "assign", "operator", "ann")
        token = command("token", "create", "billing", "--role", "worker").strip()
        assert "there is no tenant 'blue'" in command("partitions", "pin", "blue", "1", fails=True)
        command("tenant", "create", "blue")
        command("partitions", "pin", "blue", "1")
        columns = "entity_type, operation, entity_key, related_key, result, description"
        query = f"SELECT {columns} FROM audit_log ORDER BY audit_log_key"
        with psycopg.connect(database) as connection:
            records = connection.execute(query).fetchall()
            [(actor, kind, address)] = connection.execute(
                "SELECT DISTINCT actor_id, actor_type, address FROM audit_log"
            )
        assert records == [
            ("USER", "CREATE", "ann", None, "SUCCESS", "vivero user add ann"),
            ("USER", "DELETE", "ann", None, "FAIL", "vivero user delete ann"),
            ("ROLE", "ASSIGN", "operator", "ann", "SUCCESS", "vivero role assign operator"),
            ("CLIENT", "CREATE", "billing", None, "SUCCESS", "vivero token create billing"),
            ("TENANT", "UPDATE", "blue", None, "FAIL", "vivero partitions pin blue"),
            ("TENANT", "CREATE", "blue", None, "SUCCESS", "vivero tenant create blue"),
            ("TENANT", "UPDATE", "blue", None, "SUCCESS", "vivero partitions pin blue"),
        ]
        assert (actor, kind, address) == (getpass.getuser(), "UNKNOWN", socket.gethostname())
        assert password not in str(records)
        assert token not in str(records)

    def test_roles_of_the_database_queue_commands(self, command, database):
        command("tenant", "create", "blue")
        with new_role(database, "shop") as shop, psycopg.connect(database, autocommit=True) as connection:
            assert "no role 'nobody'" in command("database-role", "grant", "nobody", fails=True)
            assert "no tenant red" in command("database-role", "grant", shop, "--tenant", "red", fails=True)
            command("database-role", "grant", shop, "--tenant", "blue", "--tenant", "<default>")
            assert "<default>, blue" in command("database-role", "list")
            connection.execute(f"SET ROLE {shop}")
            id = connection.execute("SELECT publish_message('paid', '1', tenant => 'blue')").fetchone()[0]
            connection.execute("RESET ROLE")
            assert json.loads(command("outcome", str(id), "--json"))["state"] == "QUEUED"
            assert "QUEUED" in command("outcome", str(id))
            assert "there is no command 5" in command("outcome", "5", fails=True)
            command("database-role", "revoke", shop)
            assert "has no tenants" in command("database-role", "revoke", shop, fails=True)
            assert command("database-role", "list", "--json") == ""
        assert "exclude" in command("database-role", "grant", "x", "--tenant", "a", "--all-tenants", fails=True)

    def test_tenants(self, command):
        command("tenant", "create", "acme", "--name", "Acme Inc.", "--description", "Orders")
        assert "already" in command("tenant", "create", "acme", fails=True)
        assert "not a valid id" in command("tenant", "create", "a,b", fails=True)
        command("tenant", "assign", "acme", "ann")
        command("tenant", "assign", "acme", "operator", "--type", "role")
        assert "no group 'staff'" in command("tenant", "assign", "acme", "staff", "--type", "group", fails=True)
        assert "no tenant 'x'" in command("tenant", "assign", "x", "ann", fails=True)
        assert "not a valid name" in command("tenant", "assign", "acme", "a b", fails=True)
        command("token", "create", "billing", "--role", "worker", "--tenant", "acme", "--tenant", "<default>")
        shown = {
            "tenantId": "acme",
            "name": "Acme Inc.",
            "description": "Orders",
            "definitions": 0,
            "members": ["ROLE operator", "TOKEN billing", "USER ann"],
        }
        assert json.loads(command("tenant", "show", "acme", "--json")) == shown
        assert json.loads(command("tenant", "list", "--json").splitlines()[1]) == shown
        assert "  TOKEN billing" in command("tenant", "show", "acme")
        assert "acme\t0\t3\tAcme Inc.\n" in command("tenant", "list")
        command("tenant", "unassign", "acme", "ann")
        assert "does not have" in command("tenant", "unassign", "acme", "ann", fails=True)
        command("tenant", "delete", "acme")
        assert "no tenant" in command("tenant", "delete", "acme", fails=True)
        assert "no tenant" in command("tenant", "show", "acme", fails=True)
        assert "built in" in command("tenant", "delete", "<default>", fails=True)
        assert json.loads(command("token", "list", "--json"))["tenants"] == ["<default>"], "a later one is another"


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"VIVERO_TOKEN": "t", "VIVERO_USERNAME": "ann"}, "t"),
        ({"VIVERO_USERNAME": "ann", "VIVERO_PASSWORD": "p"}, ("ann", "p")),
    ],
)
def test_credentials_of_the_command_line(environment, found):
    assert credentials_from(environment) == found


@pytest.mark.process
def test_a_program_that_requires_authentication(up, command, database):
    """Revoking a token works at once, on a running server: the change notifies it."""
    server = up(database, "--auth", "required")
    assert "The first administrator is 'admin'" in server.said
    password = server.said.partition("with the password ")[2].split()[0]
    assert password not in server.logged
    with plain_http.client(base_url=server.address) as client:
        assert client.get("/v2/topology").status_code == 401
        assert client.get("/v2/topology", auth=("admin", password)).status_code == 200
        token = command("token", "create", "billing", "--role", "worker").strip()
        bearer = {"authorization": f"Bearer {token}"}
        assert client.get("/v2/topology", headers=bearer).status_code == 200
        assert client.put("/v2/clock", json={"timestamp": 1}, headers=bearer).status_code == 403
        command("token", "revoke", "billing")
        eventually_sync(
            lambda: client.get("/v2/topology", headers=bearer).status_code, accept=lambda found: found == 401
        )
        assert token not in server.logged
