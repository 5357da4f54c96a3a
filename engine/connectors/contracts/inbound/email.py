"""E-mail that comes in by IMAP: `io.camunda:connector-email-inbound:1`."""

from __future__ import annotations

from vivero.engine.connectors.contract import InboundContract, Input, Kind
from vivero.engine.connectors.contracts.email import AUTHENTICATION, PLAIN, STARTTLS, TLS

UNSEEN, ALL = "unseenPollingConfig", "allPollingConfig"
READ, DELETE, MOVE = "READ", "DELETE", "MOVE"

EMAIL_INBOUND = InboundContract(
    name="E-mail inbound",
    types=("io.camunda:connector-email-inbound:1",),
    inputs=(
        *AUTHENTICATION,
        Input("data.imapConfig.imapHost", required=True),
        Input("data.imapConfig.imapPort", Kind.NUMBER, 993),
        Input("data.imapConfig.imapCryptographicProtocol", default=TLS, choices=(STARTTLS, TLS, PLAIN)),
        Input("data.folderToListen", default="INBOX"),
        Input("data.pollingWaitTime", Kind.DURATION, "PT20S"),
        Input("data.pollingConfigDiscriminator", default=UNSEEN, choices=(UNSEEN, ALL)),
        Input("data.pollingConfig.handlingStrategy", choices=(READ, DELETE, MOVE)),
        Input("data.pollingConfig.targetFolder"),
    ),
    result="messageId, fromAddress, headers, subject, size, plainTextBody, htmlBody, attachments, receivedDateTime,"
    " errors",
    handler="vivero.engine.connectors.receivers.mailboxes:Mailboxes",
    secrets=("authentication", "data.imapConfig"),
    errors=("LOGIN_REFUSED", "MAILBOX_REFUSED", "BAD_MAIL", "PLAIN_LOGIN"),
)
