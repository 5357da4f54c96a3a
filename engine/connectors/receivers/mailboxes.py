"""E-mail inbound: each e-mail of a mailbox is an event. It is marked when its command is durable, and not before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import trio
from cachetools import LRUCache

from vivero.engine.connectors.contracts.inbound.email import ALL, DELETE, MOVE, READ
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.mail_servers import mail_server
from vivero.engine.connectors.receivers.imap import Mailbox, MailboxPlace
from vivero.engine.connectors.receivers.mails import ReceivedMail, read_mail
from vivero.engine.connectors.receivers.receiver import OF_AN_EVENT, Deployed, ReceiverParts, is_done
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.work.calls import masked
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

T = TypeVar("T")

SERVER = "data.imapConfig.imap"
MOST_AT_ONCE = 50
"""E-mails of one look."""
MOST_KNOWN = 10_000
LEAST_WAIT_S = 1.0
CALL_S = 120.0
"""The time for one call, as a server may send a byte now and then. Its connection is shut behind it."""
CLOSE_S = 1.0
"""The wait for a thread that closes a connection; then it does so alone."""


class Mailboxes:
    """Looks into one mailbox from time to time."""

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        self._parts, self._deployed, self._state = parts, deployed, state
        self._passed: LRUCache[tuple[str, str], bool] = state.kept.setdefault("passed", LRUCache(MOST_KNOWN))
        """E-mails that were looked at, by UIDVALIDITY and UID. True: only the mark is missing, which may fail often."""

    async def run(self) -> None:
        """Look until cancelled. Raises ConnectorError."""
        while True:
            used = UsedSecrets(self._parts.secrets)
            inputs = self._deployed.inputs(used)
            wait_s = max(inputs.duration_s("data.pollingWaitTime") or 0.0, LEAST_WAIT_S)
            try:
                more = await self.look(await self._place(inputs, used))
            except ConnectorError as error:
                raise masked(error, used) from error
            if not more:
                await trio.sleep(wait_s * (0.9 + self._parts.random() / 5))

    async def look(self, place: MailboxPlace) -> bool:
        """Take the e-mails that wait. True: there are more. Raises ConnectorError."""
        mailbox, errors = Mailbox(place), self._state.errors
        try:
            validity = await self._in_thread(mailbox.open)
            uids = [
                uid for uid in await self._in_thread(partial(mailbox.uids, MOST_KNOWN)) if self._waits(validity, uid)
            ]
            for uid in uids[:MOST_AT_ONCE]:
                await self._take(mailbox, (validity, uid))
            if self._state.errors == errors:
                self._state.works()
            await self._in_thread(mailbox.leave)
        finally:
            mailbox.shut()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                await self._in_thread(mailbox.close)
        return len(uids) > MOST_AT_ONCE

    def _waits(self, validity: str, uid: str) -> bool:
        return self._passed.get((validity, uid)) is not False

    async def _take(self, mailbox: Mailbox, name: tuple[str, str]) -> None:
        """Give one e-mail its effect, and mark it then."""
        if not self._passed.get(name):
            self._passed[name] = await is_done(self._deployed, self._state, self._given(mailbox, name[1]))
        if self._passed[name]:
            await self._in_thread(partial(mailbox.mark, name[1]))
            self._passed[name] = False

    async def _given(self, mailbox: Mailbox, uid: str) -> bool:
        """Give an e-mail its effect. False: it does not meet the condition. Raises ConnectorError."""
        content = await self._in_thread(partial(mailbox.fetch, uid))
        mail = await self._in_thread(partial(read_mail, content))
        commands, origin, documents = self._parts.commands, self._deployed.origin, self._parts.documents
        shown = [{"fileName": each.name, "contentType": each.content_type} for each in mail.attachments]
        if not await commands.accepts(origin, {**mail.event, "attachments": shown}):
            return False
        stored = await self._stored(mail)
        try:
            owner = await commands.give(origin, {**mail.event, "attachments": stored}, mail.id)
        except ConnectorError as error:
            if error.code in OF_AN_EVENT and documents is not None:
                await documents.delete(stored, origin.tenant)
            raise
        if stored and documents is not None:
            await documents.belong(stored, origin.tenant, owner)
        return True

    async def _stored(self, mail: ReceivedMail) -> list[dict[str, Any]]:
        """The references to the attachments, as documents of the tenant."""
        if not mail.attachments:
            return []
        if self._parts.documents is None:
            raise ConnectorError("UNAVAILABLE", "documents are not supported here")
        job = self._deployed.job()
        async with self._parts.documents.turn():
            return [
                await self._parts.documents.store(job, each.content_type, each.content, each.name)
                for each in mail.attachments
            ]

    async def _in_thread(self, call: Callable[[], T]) -> T:
        try:
            return await self._parts.threads.run(self._deployed.tenant, call, CALL_S)
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", f"the mail server needs more than {round(CALL_S)} s") from None

    async def _place(self, inputs: Inputs, used: UsedSecrets) -> MailboxPlace:
        """The mailbox that the inputs name. Raises ConnectorError."""
        which = inputs.text("data.pollingConfigDiscriminator")
        handling = inputs.text("data.pollingConfig.handlingStrategy") or (DELETE if which == ALL else READ)
        target = inputs.line("data.pollingConfig.targetFolder")
        if which == ALL and handling == READ:
            raise bad_input("of all e-mails, each must be deleted or moved: otherwise it would come again")
        if handling == MOVE and not target:
            raise bad_input("data.pollingConfig.targetFolder is missing")
        server = await mail_server(inputs, SERVER, self._parts.settings, used)
        return MailboxPlace(server, inputs.line("data.folderToListen"), which, handling, target)
