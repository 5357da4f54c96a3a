"""E-mail that a service task sends by SMTP: `io.camunda:email:1`. Its IMAP and POP3 actions are refused."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

SIMPLE, NO_AUTHENTICATION = "simple", "noAuth"
STARTTLS, TLS, PLAIN = "TLS", "SSL", "NONE"
"""The names of the template: its TLS begins by STARTTLS, its SSL with TLS at once."""
AUTHENTICATION = (
    Input("authentication.type", default=SIMPLE, choices=(SIMPLE, NO_AUTHENTICATION)),
    Input("authentication.username"),
    Input("authentication.password"),
)

EMAIL = Contract(
    name="E-mail",
    types=("io.camunda:email:1",),
    inputs=(
        *AUTHENTICATION,
        Input("protocol", default="smtp"),
        Input("data.smtpConfig.smtpHost", required=True),
        Input("data.smtpConfig.smtpPort", Kind.NUMBER, 587),
        Input("data.smtpConfig.smtpCryptographicProtocol", default=STARTTLS, choices=(STARTTLS, TLS, PLAIN)),
        Input("data.smtpActionDiscriminator", default="sendEmailSmtp"),
        Input("data.smtpAction.from", required=True),
        Input("data.smtpAction.to", Kind.TEXTS),
        Input("data.smtpAction.cc", Kind.TEXTS),
        Input("data.smtpAction.bcc", Kind.TEXTS),
        Input("data.smtpAction.headers", Kind.CONTEXT),
        Input("data.smtpAction.subject"),
        Input("data.smtpAction.contentType", default="PLAIN", choices=("PLAIN", "HTML", "MULTIPART")),
        Input("data.smtpAction.body"),
        Input("data.smtpAction.htmlBody"),
        Input("data.smtpAction.attachments", Kind.LIST),
    ),
    result="subject, sent, messageId",
    handler="vivero.engine.connectors.outbound.email:Email",
    secrets=("authentication", "data.smtpConfig", "data.smtpAction.from"),  # the sender is often the account
    errors=("TLS_REFUSED", "LOGIN_REFUSED", "MAIL_REFUSED", "PLAIN_LOGIN"),
    at_once=8,
)
