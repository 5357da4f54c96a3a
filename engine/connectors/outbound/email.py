"""The connector `io.camunda:email:1`: e-mail by SMTP. A repeated job sends the same Message-ID."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import trio

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.outbound.mail_messages import ACTION, Mail, mail
from vivero.engine.connectors.outbound.mail_servers import mail_server
from vivero.engine.connectors.outbound.smtp import deliver
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call, masked
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob

SERVER = "data.smtpConfig.smtp"
SEND = "sendEmailSmtp"
MOST_SHOWN = 300
"""The most characters of the message of a server that refuses a mail."""


class Email:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._documents = around.contract, around.documents
        self._settings = around.settings
        self._threads = trio.CapacityLimiter(around.at_once)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The id of the e-mail that was sent. Raises ConnectorError."""
        inputs = Inputs(self._contract, call.inputs)
        if inputs.text("protocol").lower() != "smtp" or inputs.text("data.smtpActionDiscriminator") != SEND:
            raise bad_input("only the protocol smtp with the action sendEmailSmtp is supported")
        server = await mail_server(inputs, SERVER, self._settings, call.used)
        async with AsyncExitStack() as stack:
            files = await self._files(inputs, call.job, stack)
            made = await self._in_thread(partial(_mail, inputs, call.job, files))
            try:
                await deliver(server, made, self._threads)
            except ConnectorError as error:  # what is cut off behind a part of a secret shows this part
                shown = masked(error, call.used)
                raise replace(shown, message=shown.message[:MOST_SHOWN]) from error
        id = call.used.mask(str(made.message["Message-ID"]))  # with the domain of the sender
        return {"subject": str(made.message["Subject"]), "sent": True, "messageId": id}

    async def _in_thread(self, make: Callable[[], Mail]) -> Mail:
        """An e-mail of several megabytes takes the library seconds, in which other tasks of the node must go on."""
        return await trio.to_thread.run_sync(make, limiter=self._threads, abandon_on_cancel=True)

    async def _files(self, inputs: Inputs, job: ConnectorJob, stack: AsyncExitStack) -> list[SentFile]:
        """The attachments. They are in memory until the stack ends."""
        given = inputs.list(f"{ACTION}.attachments")
        if not given:
            return []
        if self._documents is None:
            raise bad_input("documents are not supported here")
        await stack.enter_async_context(self._documents.turn())
        return await self._documents.files(given, job.tenant_id)


def _mail(inputs: Inputs, job: ConnectorJob, files: list[SentFile]) -> Mail:
    """The e-mail. Its id follows from the job and its inputs: other servers have jobs of the same key."""
    digest = hashlib.sha256(bytes(job.variables)).hexdigest()[:20]
    domain = inputs.text(f"{ACTION}.from").rpartition("@")[2].strip(" >")
    try:
        return mail(inputs, f"<{job.job_key}.{digest}@{domain}>", files)
    except (UnicodeError, ValueError, IndexError) as error:
        raise bad_input(f"this cannot be an e-mail: {error}") from error
