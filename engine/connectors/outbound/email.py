"""The connector `io.camunda:email:1`: e-mail by SMTP. A repeated job sends the same Message-ID."""

from __future__ import annotations

import hashlib
from contextlib import AsyncExitStack
from typing import Any

import trio

from vivero.engine.connectors.contracts.email import NO_AUTHENTICATION
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.addresses import ForbiddenAddress
from vivero.engine.connectors.http.transport import checked_addresses, tls_context
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.outbound.mail_messages import ACTION, Mail, mail
from vivero.engine.connectors.outbound.smtp import MailServer, deliver
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob

SERVER = "data.smtpConfig"
SEND = "sendEmailSmtp"
MOST_ADDRESSES = 3
"""The addresses of a host that are tried."""


class Email:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._documents = around.contract, around.documents
        self._policy = around.settings.addresses
        self._threads = trio.CapacityLimiter(around.at_once)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The id of the e-mail that was sent. Raises ConnectorError."""
        inputs = Inputs(self._contract, call.inputs)
        if inputs.text("protocol").lower() != "smtp" or inputs.text("data.smtpActionDiscriminator") != SEND:
            raise bad_input("only the protocol smtp with the action sendEmailSmtp is supported")
        server = await self._server(inputs, call)
        async with AsyncExitStack() as stack:
            made = _mail(inputs, call.job, await self._files(inputs, call.job, stack))
            await deliver(server, made, self._threads)
        return {"subject": str(made.message["Subject"]), "sent": True, "messageId": str(made.message["Message-ID"])}

    async def _files(self, inputs: Inputs, job: ConnectorJob, stack: AsyncExitStack) -> list[SentFile]:
        """The attachments. They are in memory until the stack ends."""
        given = inputs.list(f"{ACTION}.attachments")
        if not given:
            return []
        if self._documents is None:
            raise bad_input("documents are not supported here")
        await stack.enter_async_context(self._documents.turn())
        return await self._documents.files(given, job.tenant_id)

    async def _server(self, inputs: Inputs, call: Call) -> MailServer:
        host, port = inputs.line(f"{SERVER}.smtpHost").strip(), inputs.whole(f"{SERVER}.smtpPort", 1, 65535)
        login = None
        if inputs.text("authentication.type") != NO_AUTHENTICATION:
            login = inputs.line("authentication.username"), inputs.line("authentication.password")
            if "" in login:
                raise bad_input("authentication.username and authentication.password are missing")
            call.used.hide(login[1])
        try:
            addresses = await checked_addresses(host, port, self._policy)
        except ForbiddenAddress as error:
            raise ConnectorError("FORBIDDEN_ADDRESS", str(error), final=True) from error
        except (OSError, UnicodeError) as error:
            why = f"the name of the mail server cannot be resolved: {error}"
            raise ConnectorError("CONNECTION_FAILED", why) from error
        security = inputs.text(f"{SERVER}.smtpCryptographicProtocol")
        return MailServer(host, port, security, addresses[:MOST_ADDRESSES], login, tls_context())


def _mail(inputs: Inputs, job: ConnectorJob, files: list[SentFile]) -> Mail:
    """The e-mail. Its id follows from the job and its inputs: other servers have jobs of the same key."""
    digest = hashlib.sha256(bytes(job.variables)).hexdigest()[:20]
    domain = inputs.text(f"{ACTION}.from").rpartition("@")[2].strip(" >")
    try:
        return mail(inputs, f"<{job.job_key}.{digest}@{domain}>", files)
    except (UnicodeError, ValueError, IndexError) as error:
        raise bad_input(f"this cannot be an e-mail: {error}") from error
