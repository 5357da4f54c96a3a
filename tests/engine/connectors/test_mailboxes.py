"""E-mail inbound: each mail once, marked behind its command; odd mails; hostile servers."""

import ssl
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from email.headerregistry import HeaderRegistry
from functools import partial
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from tests.api.tls.conftest import write_certificate
from tests.engine.connectors.dispatching import ended
from tests.engine.connectors.imap_server import PASSWORD, ImapServer
from tests.engine.connectors.receiving import receivers_of, receiving, starting, states
from tests.eventually import eventually
from vivero.engine.connectors.contents import INBOUND_BY_TYPE
from vivero.engine.connectors.contracts.email import TLS
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.outbound.mail_servers import MailServer, tls_context
from vivero.engine.connectors.receivers import imap, mailboxes, task
from vivero.engine.connectors.receivers.imap import MailboxPlace
from vivero.engine.connectors.receivers.mailboxes import Mailboxes
from vivero.engine.connectors.receivers.mails import MOST_MAIL_LINES, MOST_SOURCE, MOST_TEXT, read_mail
from vivero.engine.connectors.receivers.receiver import Deployed
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.receivers.threads import TenantThreads
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.uploads import DocumentStorage

TYPE = "io.camunda:connector-email-inbound:1"
BOUNDARY = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
FILE = (
    "--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\n"
    '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="../a.pdf"\r\n\r\nPDF\r\n'
    "--b--\r\n"
)


def mail(id="<1@x>", subject="=?utf-8?b?w4RwZmVs?=", rest="\r\nHello\r\n"):
    return f"From: Ann <ann@example.org>\r\nMessage-ID: {id}\r\nSubject: {subject}\r\n{rest}".encode("latin-1")


@pytest.fixture
async def server(nursery):
    made = ImapServer()
    [listener] = await nursery.start(partial(trio.serve_tcp, made.handle, 0, host="127.0.0.1"))
    made.port = listener.socket.getsockname()[1]
    return made


class Files:
    """Documents that the mails brought."""

    def __init__(self) -> None:
        self.stored, self.deleted = [], []

    @asynccontextmanager
    async def turn(self):
        yield

    async def store(self, job, kind, content, name):
        self.stored.append((job.tenant_id, kind, content, name))
        return {"documentId": str(len(self.stored))}

    async def belong(self, given, tenant, owner):
        pass

    async def delete(self, given, tenant):
        self.deleted += [(tenant, each["documentId"]) for each in given]


def inputs(server, **more):
    return {
        "authentication.username": "ann",
        "authentication.password": "{{secrets.KEY}}",
        "data.imapConfig.imapHost": "127.0.0.1",
        "data.imapConfig.imapPort": str(server.port),
        "data.imapConfig.imapCryptographicProtocol": "NONE",
    } | {name.replace("__", "."): value for name, value in more.items()}


async def test_each_mail_starts_one_instance_also_if_its_mark_is_lost(engine, connect, server, monkeypatch):
    monkeypatch.setattr(task, "SAVE_S", 0.05)
    monkeypatch.setattr(task, "LEAST_PAUSE_S", 0.01)
    monkeypatch.setattr(mailboxes, "LEAST_WAIT_S", 0.05)
    server.mails = {"1": mail(rest=BOUNDARY + FILE), "2": mail("<2@x>"), "3": mail("<3@x>"), "4": mail("<4@x>", "no")}
    server.said_sizes["2"] = 2**30
    lost = []

    async def break_off_once(words, stream):
        if words.startswith("UID STORE") and not lost:
            lost.append(words)
            await stream.aclose()
            return True
        return False

    server.on = break_off_once
    settings, connections = DocumentSettings(), engine.pool.connection
    files = CallDocuments(DocumentStorage(settings, open_stores(settings, connections), connections))
    given = {
        "activationCondition": '=subject != "no"',
        "resultExpression": "={s: subject, t: plainTextBody, f: attachments}",
        "data.pollingWaitTime": "PT0S",
    }
    await engine.deploy(starting(TYPE, inputs(server) | given))
    async with receiving(receivers_of(engine, connect, documents=files)):
        await ended(engine, 2)
        done = [("1", r"(\Seen)"), ("3", r"(\Seen)")]
        await eventually(lambda: server.marks, accept=lambda marks: marks == done)
        [state] = await eventually(lambda: states(engine), accept=lambda rows: rows[0].events >= 2)
    assert lost == [r"UID STORE 1 +FLAGS.SILENT (\Seen)"]
    assert await engine.value("SELECT count(*) FROM process_instances") == 2
    server.seen, server.marks = set(), []  # as if a crash had lost the marks, and a new node had no memory of mails
    async with receiving(receivers_of(engine, connect, documents=files)):
        await eventually(lambda: server.marks, accept=lambda marks: marks == done)
    owned = "SELECT d.content_type, d.file_name FROM documents d JOIN process_instances USING (process_instance_key)"
    assert await engine.rows(owned) == [("application/pdf", "_a.pdf")]
    assert await engine.value("SELECT count(*) FROM documents") == 1, "those of the repeated event are deleted"
    texts = await engine.rows("SELECT value FROM variables WHERE name = 't' ORDER BY value")
    assert [text for (text,) in texts] == ['"Grüße"', '"Hello\\r\\n"']
    assert await engine.value("SELECT value FROM variables WHERE name = 's' LIMIT 1") == '"Äpfel"'
    assert state.error.startswith(("BAD_MAIL: an e-mail has more than", "CONNECTION_FAILED: the mail server broke off"))


class Commands:
    """Takes events, or says why not."""

    def __init__(self) -> None:
        self.ids, self.error = [], None

    async def accepts(self, _origin, event):
        return event["subject"] != "no"

    async def give(self, _origin, event, id):
        self.ids.append(id)
        if self.error is not None:
            raise self.error


def place(server, **more):
    which = "INBOX", "unseenPollingConfig", "READ", ""
    of_server = {name: more.pop(name) for name in list(more) if name in MailServer.__slots__}
    made = MailServer("127.0.0.1", server.port, "NONE", ["127.0.0.1"], ("ann", PASSWORD), None)
    return replace(MailboxPlace(replace(made, **of_server), *which), **more)


def looking(server, documents=None, commands=None, state=None, **more):
    """A receiver without an engine."""
    commands = commands or Commands()
    parts = SimpleNamespace(
        commands=commands,
        threads=TenantThreads(),
        documents=documents,
        secrets={"KEY": PASSWORD},
        settings=ConnectorSettings(),
    )
    element = InboundElement("e", None, inputs(server, **more))
    deployed = Deployed("t", "p", 1, True, INBOUND_BY_TYPE[TYPE], element)
    return Mailboxes(parts, deployed, state or ReceiverState()), commands


async def test_a_mail_is_not_marked_before_its_command_is_durable(server):
    receiver, commands = looking(server)
    server.mails["7"] = mail()
    commands.error = ConnectorError("UNAVAILABLE", "the program is stopping")
    with pytest.raises(ConnectorError, match="UNAVAILABLE"):
        await receiver.look(place(server))
    assert server.marks == []
    commands.error = ConnectorError("INVALID_ARGUMENT", "the engine rejects the event")
    await receiver.look(place(server))
    commands.error = None
    await receiver.look(place(server))
    assert (commands.ids, server.marks) == (["<1@x>", "<1@x>"], []), "a rejected mail stays, and is not tried again"


async def test_passwords_go_without_tls_to_this_machine_alone(server):
    receiver, _ = looking(server, data__imapConfig__imapHost="8.8.8.8")
    with pytest.raises(ConnectorError, match=r"PLAIN_LOGIN: the password would go to 8\.8\.8\.8 without TLS"):
        await receiver.run()


async def test_slow_servers_of_one_tenant_do_not_stop_the_receivers_of_others():
    threads, ends = TenantThreads(3, 2), threading.Event()
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(threads.run, "slow", ends.wait)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(5):
            assert await threads.run("other", lambda: 7) == 7
        ends.set()
    with pytest.raises(trio.TooSlowError):
        await threads.run("other", threading.Event().wait, 0.01)


async def test_numbers_of_another_validity_are_other_mails_with_the_same_ids(server):
    receiver, commands = looking(server)
    server.mails["7"], server.mails["8"] = mail(), mail("<2@x>", "no")
    await receiver.look(place(server))
    server.validity, server.mails = 2, {"1": mail(), "7": mail("<3@x>")}
    server.seen = {"1"}
    await receiver.look(place(server))
    assert (commands.ids, [uid for uid, _ in server.marks]) == (["<1@x>", "<3@x>"], ["7", "7"])


async def test_attachments_of_a_rejected_mail_are_deleted_and_a_mark_that_fails_stores_none_again(server):
    files, state = Files(), ReceiverState()
    receiver, commands = looking(server, files, state=state)
    server.mails["7"] = mail(rest=BOUNDARY + FILE)
    commands.error = ConnectorError("INVALID_ARGUMENT", "the engine rejects the event")
    await receiver.look(place(server))
    assert (len(files.stored), files.deleted) == (1, [("t", "1")])
    commands.error, server.mails["8"] = None, mail("<2@x>", rest=BOUNDARY + FILE)

    async def refuse_marks(words, stream):
        if words.startswith("UID STORE"):
            await stream.aclose()
            return True
        return False

    server.on = refuse_marks
    for _ in range(2):
        with pytest.raises(ConnectorError, match="CONNECTION_FAILED"):
            await receiver.look(place(server))
        receiver, _ = looking(server, files, commands, state)
    assert (commands.ids, len(files.stored), len(files.deleted)) == (["<1@x>", "<2@x>"], 2, 1)


DELETED = ("7", r"(\Deleted)")


@pytest.mark.parametrize(
    ("capabilities", "handling", "marks"),
    [
        ("IMAP4rev1", "MOVE", [("7", '"done"'), DELETED]),
        ("IMAP4rev1 UIDPLUS", "MOVE", [("7", '"done"'), DELETED, ("7", "EXPUNGE")]),
        ("IMAP4rev1 UIDPLUS MOVE", "MOVE", [("7", '"done"')]),
        ("IMAP4rev1 MOVE", "DELETE", [DELETED]),
        ("IMAP4rev1 UIDPLUS", "DELETE", [DELETED, ("7", "EXPUNGE")]),
    ],
)
async def test_mails_are_moved_or_deleted_alone(server, capabilities, handling, marks):
    receiver, _ = looking(server)
    server.mails["7"], server.capabilities = mail(), capabilities
    asked = []

    async def on(words, _stream):
        asked.append(words)

    server.on = on
    await receiver.look(place(server, which="allPollingConfig", handling=handling, target="done"))
    assert server.marks == marks
    assert "EXPUNGE" not in asked, "it removes e-mails that others have deleted"


@pytest.mark.parametrize(
    ("begins", "answer", "says"),
    [
        ("LOGIN", b"* BYE no\r\n", "CONNECTION_FAILED: "),
        (
            "UID SEARCH",
            b"* SEARCH {99999999999}\r\n",
            "CONNECTION_FAILED: the mail server broke off: command: UID => its replies",
        ),
        (
            "UID SEARCH",
            b"* SEARCH 1\r\n" * 100_000,
            "CONNECTION_FAILED: the mail server broke off: command: UID => its replies",
        ),
        (
            "UID FETCH",
            b"* 1 FETCH (BODY[] {20000000}\r\n",
            "CONNECTION_FAILED: the mail server broke off: command: UID => its replies",
        ),
        ("SELECT", b"\xff\xfe\r\n", "CONNECTION_FAILED: "),
    ],
)
async def test_hostile_servers_are_cut_off(server, begins, answer, says):
    receiver, commands = looking(server)
    server.mails["7"] = mail()

    async def on(words, stream):
        if words.startswith(begins):
            await stream.send_all(answer)
            await stream.aclose()
            return True
        return False

    server.on = on
    with pytest.raises(ConnectorError) as found:
        await receiver.look(place(server))
    assert str(found.value).startswith(says)
    assert commands.ids == []


async def test_tls_is_to_the_named_server_alone(nursery, tmp_path):
    server, (chain, key) = ImapServer(), write_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    [listener] = await nursery.start(partial(trio.serve_ssl_over_tcp, server.handle, 0, context, host="127.0.0.1"))
    server.port, server.mails["7"] = listener.transport_listener.socket.getsockname()[1], mail()
    trusting = ssl.create_default_context(cafile=chain)
    receiver, commands = looking(server)
    for more, says in (
        ({"context": tls_context()}, "self-signed certificate"),
        ({"host": "other.example"}, "mismatch"),
    ):
        given = {"security": TLS, "host": "localhost", "context": trusting} | more
        with pytest.raises(ConnectorError, match=f"CONNECTION_FAILED: .*{says}"):
            await receiver.look(place(server, **given))
    assert commands.ids == []
    await receiver.look(place(server, security=TLS, host="localhost", context=trusting))
    assert (commands.ids, server.marks) == (["<1@x>"], [("7", r"(\Seen)")])


async def test_a_wrong_login_and_a_silent_server(server, monkeypatch):
    with pytest.raises(ConnectorError, match="LOGIN_REFUSED: the mail server refuses the login"):
        await looking(server)[0].look(place(server, login=("ann", "wrong")))
    monkeypatch.setattr(imap, "SILENCE_S", 0.05)

    async def silent(words, _stream):
        return words.startswith("SELECT")

    server.on = silent
    with pytest.raises(ConnectorError, match="TIMEOUT: the mail server did not answer"):
        await looking(server)[0].look(place(server))
    monkeypatch.setattr(imap, "SILENCE_S", 30.0)
    monkeypatch.setattr(mailboxes, "CALL_S", 0.2)
    with pytest.raises(ConnectorError, match="TIMEOUT: the mail server needs more than"):
        await looking(server)[0].look(place(server))


@pytest.mark.parametrize(
    ("content", "subject", "text"),
    [
        (b"", "", ""),
        (b"\x00\xff\xfe", "", "\ufffd\ufffd\ufffd"),
        (
            mail(subject="=?x-unknown?q?a?=", rest="Content-Type: text/plain; charset=no-such\r\n\r\nh\xfc"),
            "a",
            "h\ufffd",
        ),
        (mail(rest="Content-Type: text/plain; charset=hex\r\n\r\nhi"), "Äpfel", "hi"),
        (mail(rest=BOUNDARY + "--b\r\nno end"), "Äpfel", "no end"),
        (mail(rest="Content-Transfer-Encoding: base64\r\n\r\n!!!"), "Äpfel", ""),
        (b"Subject: " + b"x" * 100_000 + b"\r\n\r\n" + b"y" * 2 * MOST_TEXT, "x" * 2000, "y" * MOST_TEXT),
    ],
)
def test_odd_mails_are_read(content, subject, text):
    event = read_mail(content).event
    assert (event["subject"], event["plainTextBody"].strip()) == (subject, text)


@pytest.mark.parametrize("header", ["Subject: " + "=?utf-8?q?a?= " * 200_000, "From: " + "a," * 1_000_000])
def test_long_headers_are_cut_before_their_parser_sees_them(header, monkeypatch):
    lengths, make = [], HeaderRegistry.__call__

    def counted(self, name, value):
        lengths.append(len(value))
        return make(self, name, value)

    monkeypatch.setattr(HeaderRegistry, "__call__", counted)
    read_mail(header.encode() + b"\r\n\r\nHello")
    assert max(lengths) == MOST_SOURCE


def test_bombs_are_bounded():
    deep = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n" for n in range(2000))
    many = BOUNDARY + "--b\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n" * 1000 + "--b--"
    with pytest.raises(ConnectorError, match="BAD_MAIL: an e-mail has more than 300000 lines or 50 boundaries"):
        read_mail(mail(rest=deep))
    with pytest.raises(ConnectorError, match="BAD_MAIL: an e-mail cannot be read: RecursionError"):
        read_mail(b"From: " + b"(" * 10_000)
    with pytest.raises(ConnectorError, match="BAD_MAIL: an e-mail has more than 300000 lines"):
        read_mail(b"\r\n" * (MOST_MAIL_LINES + 1))
    with pytest.raises(ConnectorError, match="BAD_MAIL: the headers of an e-mail have more than"):
        read_mail(mail(rest=BOUNDARY + f"--b\r\nContent-Type: {'x' * 1990}/y\r\n\r\n" * 100))
    found = read_mail(mail(rest=many))
    assert (len(found.attachments), found.event["errors"]) == (50, ["it has more than 50 attachments"])
