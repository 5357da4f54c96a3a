"""E-mail by SMTP against a server on loopback: TLS or nothing, one id for each job, and hostile servers."""

import base64
import email.policy
import json
import ssl
import threading
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import msgspec
import pytest
import trio

from tests.api.tls.conftest import write_certificate
from tests.engine.connectors.test_http_json import written
from vivero.core.shared.secret_places import HEADER
from vivero.engine.connectors.contracts.email import EMAIL
from vivero.engine.connectors.http import transport
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.outbound.email import Email
from vivero.engine.connectors.outbound.mail_messages import mail
from vivero.engine.connectors.outbound.mail_servers import tls_context
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.calls import outcome
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import Completion, Failure
from vivero.engine.connectors.work.secrets import UsedSecrets

PASSWORD = "pass-word"
HIDDEN = "=?utf-8?q?a=0D=0ABcc:_x=40x.example?="
LOGIN = base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode()


@dataclass
class SmtpServer:
    """A mail server. `replies` are by the first word of a command, in place of the usual ones."""

    port: int = 0
    starttls: bool = True
    context: ssl.SSLContext | None = None
    greeting: bytes = b"220 here\r\n"
    replies: dict = field(default_factory=dict)
    commands: list = field(default_factory=list)
    mails: list = field(default_factory=list)
    plain: bool = True
    ended: trio.Event = field(default_factory=trio.Event)

    async def handle(self, stream):
        try:
            await stream.send_all(self.greeting)
            await self.serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.aclose()
        self.ended.set()

    async def serve(self, stream):
        rest = b""
        while True:
            while b"\r\n" not in rest:
                if not (more := await stream.receive_some()):
                    return
                rest += more
            line, _, rest = rest.partition(b"\r\n")
            word = line.split()[0].upper().decode()
            self.commands.append(line.decode())
            answer = self.replies.get(word) or self.usual(word)
            await stream.send_all(answer)
            if word == "STARTTLS" and answer.startswith(b"220"):
                stream, self.plain = trio.SSLStream(stream, self.context, server_side=True), False
            if word == "DATA" and answer.startswith(b"354"):
                while b"\r\n.\r\n" not in rest:
                    rest += await stream.receive_some()
                mail, _, rest = rest.partition(b"\r\n.\r\n")
                self.mails.append(email.message_from_bytes(mail, policy=email.policy.default))
                await stream.send_all(b"250 taken\r\n")

    def usual(self, word):
        if word == "EHLO":
            return b"250-here\r\n" + b"250-STARTTLS\r\n" * self.starttls + b"250 AUTH PLAIN\r\n"
        return {"STARTTLS": b"220 go\r\n", "AUTH": b"235 in\r\n", "DATA": b"354 go\r\n", "QUIT": b"221 bye\r\n"}.get(
            word, b"250 ok\r\n"
        )


@pytest.fixture
async def server(tmp_path, monkeypatch, nursery):
    certificate, key = write_certificate(tmp_path)
    made = SmtpServer(context=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    made.context.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr("vivero.engine.connectors.outbound.mail_servers.tls_context", lambda: client)
    [listener] = await nursery.start(partial(trio.serve_tcp, made.handle, 0, host="127.0.0.1"))
    made.port = listener.socket.getsockname()[1]
    return made


FILE = SentFile("bill ü.pdf", "application/pdf", bytes(range(256)))


class Files:
    """Documents of a node: one."""

    def turn(self):
        return nullcontext()

    async def files(self, given, _tenant):
        return [FILE for _ in given]


@pytest.fixture
def send(server):
    """Sends an e-mail; `inputs` are by path below `data.smtpAction`, or whole paths."""

    async def run(limit_s=60.0, allowed="127.0.0.1", key="77", **inputs):
        action = {"from": "Ann <ann@a.example>", "to": "bob@b.example", "subject": "Hi", "body": "Tschüß"}
        config = {"smtpHost": "localhost", "smtpPort": server.port}
        for name in [each for each in inputs if each.startswith("smtp")]:
            config[name] = inputs.pop(name)
        access = inputs.pop("authentication", {"type": "simple", "username": "ann", "password": PASSWORD})
        data = {"smtpConfig": config, "smtpActionDiscriminator": "sendEmailSmtp", "smtpAction": action | inputs}
        variables = {"authentication": access, "protocol": "smtp", "data": data}
        headers = {HEADER: written(variables), "resultVariable": "r"}
        raw = msgspec.Raw(json.dumps(variables).encode())
        job = ConnectorJob(key, EMAIL.types[0], "call", "1", "<default>", 3, headers, raw, "lease")
        around = SimpleNamespace(
            contract=EMAIL,
            documents=Files(),
            settings=ConnectorSettings(allowed_targets=allowed),
            at_once=2,
        )
        secrets = {"SENDER": "ann@a.example", "DOMAIN": "a.example", "PORT": str(server.port)}
        return await outcome(EMAIL, Email(around), job, UsedSecrets(secrets), limit_s)

    return run


def failed(outcome, said, retries=0):
    assert isinstance(outcome, Failure), outcome
    assert said in outcome.message
    assert outcome.retries == retries
    return True


async def test_a_mail_goes_out_by_starttls_with_its_attachments(server, send):
    sent = await send(
        to=["bob@b.example", "Zoë <zoe@b.example>"],
        cc="c@c.example, d@d.example",
        bcc="e@e.example",
        contentType="multipart",
        htmlBody="<p>Tschüß",
        attachments=[{"camunda.document.type": "camunda"}],
        headers={"X-Case": 7, "X-None": None},
    )
    assert isinstance(sent, Completion)
    [mail] = server.mails
    assert sent.variables["r"] == {"subject": "Hi", "sent": True, "messageId": mail["Message-ID"]}
    assert not server.plain
    assert f"AUTH PLAIN {LOGIN}" in server.commands
    assert [line for line in server.commands if line.startswith("rcpt")] == [
        f"rcpt TO:<{name}>" for name in ("bob@b.example", "zoe@b.example", "c@c.example", "d@d.example", "e@e.example")
    ]
    assert (mail["From"], mail["Cc"], mail["X-Case"]) == ("Ann <ann@a.example>", "c@c.example, d@d.example", "7")
    assert "Zoë" in mail["To"]
    assert (mail["Bcc"], mail["X-None"]) == (None, None)
    assert mail.get_body(("plain",)).get_content().strip() == "Tschüß"
    assert mail.get_body(("html",)).get_content().strip() == "<p>Tschüß"
    [file] = mail.iter_attachments()
    assert (file.get_filename(), file.get_content_type(), file.get_content()) == FILE


async def test_a_large_mail_is_made_beside_the_other_tasks(server, send, monkeypatch):
    made_in = []

    def made(*given):
        made_in.append(threading.current_thread())
        return mail(*given)

    monkeypatch.setattr("vivero.engine.connectors.outbound.email.mail", made)
    assert isinstance(await send(), Completion)
    assert made_in != [threading.current_thread()]


async def test_a_repeated_job_has_the_same_id_and_another_has_not(server, send):
    ids = [(await send(key=key, body=body)).variables["r"]["messageId"] for key, body in ("1a", "1a", "2a", "1b")]
    assert ids[0] == ids[1] == server.mails[0]["Message-ID"]
    assert len({*ids}) == 3


async def test_without_authentication_and_without_tls(server, send):
    sent = await send(authentication={"type": "noauth"}, smtpCryptographicProtocol="none", to=["b@b.example"])
    assert isinstance(sent, Completion)
    assert server.plain
    assert not any(line.startswith("AUTH") for line in server.commands)


async def test_server_and_sender_may_be_secrets_and_texts_may_not(server, send):
    sent = await send(smtpPort="{{secrets.PORT}}", subject="{{secrets.SENDER}}", **{"from": "{{secrets.SENDER}}"})
    assert sent.variables["r"]["subject"] == "{{secrets.SENDER}}"
    assert server.mails[0]["From"] == "ann@a.example"
    sent = await send(**{"from": "ann@{{secrets.DOMAIN}}"})
    assert server.mails[1]["Message-ID"].endswith("@a.example>")
    assert sent.variables["r"]["messageId"].endswith("@***>")


def test_mail_servers_are_offered_no_http():
    """httpcore sets its own protocols on the context of HTTP."""
    assert tls_context() is not transport.tls_context()


@pytest.mark.parametrize("replies", [{}, {"STARTTLS": b"454 not now\r\n"}])
async def test_nothing_is_sent_to_a_server_that_refuses_starttls(server, send, replies):
    server.starttls, server.replies = bool(replies), replies
    assert failed(await send(), "TLS_REFUSED", None if replies else 0)
    assert server.mails == []
    assert not any(line.startswith(("AUTH", "mail")) for line in server.commands)


async def test_a_certificate_of_another_name_is_refused(server, send):
    assert failed(await send(smtpHost="127.0.0.1"), "TLS_REFUSED", None)
    assert server.mails == []


@pytest.mark.parametrize(
    ("replies", "said", "retries"),
    [
        ({"AUTH": b"535 bad\r\n"}, "LOGIN_REFUSED: 535 bad", 0),
        ({"AUTH": b"454 later\r\n"}, "LOGIN_REFUSED: 454 later", None),
        ({"RCPT": b"550 nobody\r\n"}, "MAIL_REFUSED: <bob@b.example>: 550 nobody", 0),
        ({"MAIL": b"451 later\r\n"}, "MAIL_REFUSED: 451 later", None),
        ({"DATA": b"552 too large\r\n"}, "MAIL_REFUSED: 552 too large", 0),
        (
            {"EHLO": b"250-x\r\n" * 20_000},
            "CONNECTION_FAILED: the mail server broke off",
            None,
        ),
        ({"EHLO": b"\xff" * 50_000}, "CONNECTION_FAILED: the mail server broke off", None),
        ({"AUTH": f"535 {PASSWORD} {'x' * 2000}\r\n".encode()}, "LOGIN_REFUSED: 535 *** xxx", 0),
        ({"AUTH": f"535 {LOGIN}\r\n".encode()}, "LOGIN_REFUSED: 535 ***", 0),
        ({"AUTH": f"535 {'x' * 276}{PASSWORD}\r\n".encode()}, "LOGIN_REFUSED: 535 xxx", 0),
    ],
)
async def test_refusals_and_floods(server, send, replies, said, retries):
    server.replies = replies
    result = await send()
    assert failed(result, said, retries)
    assert PASSWORD[:3] not in str(result)
    assert LOGIN not in str(result)
    assert server.mails == []


async def test_a_server_that_is_silent_is_left(server, send):
    """The call shuts its socket, so that the thread ends, too."""
    server.replies = {"EHLO": b"250-"}
    assert failed(await send(limit_s=0.3), "TIMEOUT", None)
    with trio.fail_after(20):
        await server.ended.wait()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"subject": "a\r\nBcc: x@x.example"}, "subject must have at most 1000 characters, without line breaks"),
        ({"to": "a@b.example\r\nRCPT TO:<x@x.example>"}, "to must have"),
        ({"from": "a@b.example\n"}, "from must have"),
        ({"from": "a@b.example> SIZE=1"}, "from has no valid address"),
        ({"to": "a@b.example)x@x.example"}, "to has no valid address"),
        ({"to": []}, "an e-mail needs 1 to 100 recipients"),
        ({"cc": [f"{n}@b.example" for n in range(101)]}, "an e-mail needs 1 to 100 recipients"),
        ({"subject": HIDDEN}, "the header Subject of the e-mail would have a line break"),
        ({"from": f"{HIDDEN} <a@a.example>"}, "the header From of the e-mail would have a line break"),
        ({"to": f"{HIDDEN} <b@b.example>"}, "the header To of the e-mail would have a line break"),
        ({"headers": {"References": HIDDEN}}, "the header References of the e-mail would have a line break"),
        ({"cc": [f"{'x' * 300} <{n}@b.example>" for n in range(99)]}, "cc has more than 20000 characters"),
        ({"headers": {"X": "a\nb"}}, "the header X must have"),
        ({"headers": {"X\r\nBcc": "a"}}, "is not valid, or the connector sets it"),
        ({"headers": {"bcc": "x@x.example"}}, "the header bcc is not valid, or the connector sets it"),
        ({"authentication": {"username": "ann", "password": None}}, "authentication.password are missing"),
        ({"authentication": {"username": "ann\r\n", "password": "x"}}, "must have no line breaks"),
        ({"smtpPort": 0}, "smtpPort must be a whole number from 1 to 65535"),
        ({"smtpPort": "smtp"}, "smtpPort must be a whole number from 1 to 65535"),
        ({"smtpHost": ""}, "the input data.smtpConfig.smtpHost is missing"),
        ({"smtpCryptographicProtocol": "maybe"}, "must be one of TLS, SSL, NONE"),
    ],
)
async def test_wrong_inputs_reach_no_server(server, send, inputs, said):
    assert failed(await send(**inputs), said)
    assert server.commands == []


async def test_passwords_go_without_tls_to_this_machine_alone(server, send):
    sent = await send(smtpCryptographicProtocol="NONE", to=["b@b.example"])
    assert sent.variables["r"]["sent"] is True
    assert any(line.startswith("AUTH") for line in server.commands)
    refused = await send(smtpCryptographicProtocol="NONE", smtpHost="8.8.8.8")
    assert failed(refused, "PLAIN_LOGIN: the password would go to 8.8.8.8 without TLS")


async def test_private_addresses_are_forbidden(server, send):
    assert failed(await send(allowed=""), "FORBIDDEN_ADDRESS")
    assert server.commands == []
